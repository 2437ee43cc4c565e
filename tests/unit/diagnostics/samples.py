"""For each language a file name, a valid text, the same broken, and the line of the mistake."""

from typing import NamedTuple


class Sample(NamedTuple):
    language: str
    path: str
    valid: str
    broken: str
    line: int


def _sample(language: str, path: str, valid: str, good: str, bad: str) -> Sample:
    """`good` is in the text once and becomes `bad`."""
    assert valid.count(good) == 1
    line = valid.count("\n", 0, valid.index(good)) + 1
    return Sample(language, path, valid, valid.replace(good, bad), line)


SAMPLES = [
    _sample(
        "bash",
        "run.sh",
        '#!/bin/sh\nif [ -n "$1" ]; then\n  echo "嗨 $1"\nfi\n\nfor i in 1 2; do echo "$i"; done\n',
        "do echo",
        "echo",
    ),
    _sample(
        "c", "main.c", "int add(int a, int b) {\n  return (a + b);\n}\n", "(a + b);", "(a + b;"
    ),
    _sample(
        "c-sharp",
        "Point.cs",
        "namespace A {\n  class Point {\n    public int X { get; set; }\n"
        '    string Name() { return "p"; }\n  }\n}\n',
        "Name() {",
        "Name( {",
    ),
    _sample(
        "cpp",
        "list.hpp",
        "template <typename T>\nclass List {\n public:\n  void add(const T& item);\n};\n",
        "item);",
        "item;",
    ),
    _sample("css", "site.css", "body {\n  color: red;\n}\n\na { margin: 0 }\n", "body {", "body"),
    _sample(
        "go",
        "main.go",
        'package main\n\nimport "fmt"\n\nfunc main() {\n\tfmt.Println("hi", []int{1, 2})\n}\n',
        "2})",
        "2}",
    ),
    _sample(
        "html",
        "index.html",
        "<!doctype html>\n<html>\n<body>\n<p class='a'>One</p>\n</body>\n</html>\n",
        "<p class='a'>",
        "<p class='a'",
    ),
    _sample(
        "java",
        "Main.java",
        "class Main {\n  void run(int n) {\n    System.out.println(n);\n  }\n}\n",
        "(n);",
        "(n;",
    ),
    _sample(
        "javascript",
        "app.js",
        "export const add = (a, b) => {\n  return [a, b].map((x) => x + 1);\n};\n",
        "[a, b].",
        "[a, b.",
    ),
    _sample("json", "data.json", '{\n  "a": [1, 2],\n  "b": null\n}\n', "2],", "2,"),
    _sample("jsonc", "tsconfig.json", '{\n  // 注\n  "a": [1, 2,],\n}\n', "2,]", "2,"),
    _sample(
        "kotlin",
        "Main.kt",
        'fun main(args: Array<String>) {\n    val x = listOf(1, 2)\n    println("$x")\n}\n',
        "(1, 2)",
        "(1, 2",
    ),
    _sample("lua", "init.lua", "local function f(a)\n  return { a, 1 }\nend\n", "{ a", "{ a ="),
    _sample(
        "php",
        "index.php",
        "<p>hi</p>\n<?php\nfunction f($a) {\n  return [$a, 1];\n}\n",
        "1];",
        "1;",
    ),
    _sample("python", "calc.py", "def add(a, b):\n    return (a + b)\n", "+ b)", "+ b"),
    _sample(
        "ruby",
        "app.rb",
        'class App\n  def run(a)\n    puts [a, "x"].inspect\n  end\nend\n',
        '"x"]',
        '"x"',
    ),
    _sample(
        "rust", "lib.rs", "fn add(a: i32, b: i32) -> i32 {\n    (a + b) * 2\n}\n", "b) *", "b *"
    ),
    _sample(
        "sql",
        "schema.sql",
        "CREATE TABLE t (id INT PRIMARY KEY, name TEXT);\nSELECT id FROM t WHERE id = 1;\n",
        "TEXT);",
        "TEXT;",
    ),
    _sample(
        "swift",
        "main.swift",
        "func add(_ a: Int, _ b: Int) -> Int {\n    return (a + b)\n}\n",
        "+ b)",
        "+ )",
    ),
    _sample("toml", "Cargo.toml", '[package]\nname = "a"\nlist = [1, 2]\n', "2]", "2"),
    _sample(
        "tsx",
        "App.tsx",
        "export const App = (p: { n: number }) => (\n  <div id={`a${p.n}`}>嗨</div>\n);\n",
        "</div>",
        "</div",
    ),
    _sample(
        "typescript",
        "app.ts",
        "interface A {\n  n: number;\n}\nexport function f(a: A): number {\n  return a.n;\n}\n",
        "(a: A)",
        "(a: A",
    ),
    _sample("yaml", "ci.yml", "on: [push, pull]\njobs:\n  a: {b: 1}\n  c: 2\n", "{b: 1}", "{b: 1"),
]
"""Markdown is missing on purpose: every text is valid Markdown."""
