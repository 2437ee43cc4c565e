import { describe, expect, test } from "vitest";
import { commandOf, complete, queryAt, type LookUp } from "../../webview/complete";
import { composerIntent } from "../../webview/components/composerKeys";
import { History } from "../../webview/components/history";
import { place, range, rowAt } from "../../webview/list/offsets";
import { splitBlocks } from "../../webview/markdown/blocks";
import { growing, highlighted } from "../../webview/markdown/highlight";
import { linkOf } from "../../webview/markdown/links";
import { REPLY } from "../../webview/preview/recorded";
import { diffLines, hunkLines } from "../../webview/text/diff";
import { duration, shortPath, tokens } from "../../webview/text/format";
import { hiddenCount, revealed } from "../../webview/text/hidden";

describe("links", () => {
  test.each([
    ["https://example.org/a", { kind: "web", url: "https://example.org/a" }],
    ["src/a.py", { kind: "file", path: "src/a.py", line: null }],
    ["src/a.py:12", { kind: "file", path: "src/a.py", line: 12 }],
    ["a.py:12:3", { kind: "file", path: "a.py", line: 12 }],
    ["a.py#L7-L9", { kind: "file", path: "a.py", line: 7 }],
    ["/abs/%E4%BD%A0.py#L2", { kind: "file", path: "/abs/你.py", line: 2 }],
    ["C:\\x\\a.py:3", { kind: "file", path: "C:\\x\\a.py", line: 3 }],
    ["file:///home/a%20b.py", { kind: "file", path: "/home/a b.py", line: null }],
    ["file:///C:/x.py", { kind: "file", path: "C:/x.py", line: null }],
  ])("%s opens", (href, link) => expect(linkOf(href)).toEqual(link));

  test.each([
    "javascript:alert(1)", "JaVaScRiPt:alert(1)", "java\nscript:alert(1)", " javascript:1", "javascript:12", "data:text/html,<script>", "vbscript:x",
    "command:workbench.action.quit", "vscode://x/y", "mailto:a@b.c", "ftp://a/b", "//host/share", "\\\\host\\share", "file://host/share", "#top", "",
    "blob:https://x/1", "https:///nohost", "about:blank", "x:\u0000y",
  ])("%j opens nothing", (href) => expect(linkOf(href)).toBeNull());
});

describe("Markdown is cut into blocks", () => {
  const samples = [
    REPLY, "a\n\nb\n\n- x\n\n- y\n  z\n\n  w\n\nend", "```\na\n\nb\n```\n\nc", "~~~\n```\n\n~~~\nx\n\ny", "1. a\n\n   ```\n   x\n\n   y\n   ```\n\n2. b\n\nc",
    "a\r\n\r\nb\r\n", "", "\n\n", "````md\n```\n\nx\n```\n\n````\n\nend", "[a]: https://x\n\n[a]", "    code\n\n    more\n\ntext",
  ];

  test("that make up the text", () => {
    for (const text of samples) expect(splitBlocks(text).join("")).toBe(text);
  });

  test("of which only the last changes while lines are added", () => {
    for (const text of samples.filter((one) => !one.includes("]:"))) {
      let before: string[] = [];
      for (let end = 0; end >= 0; end = text.indexOf("\n", end + 1)) {
        const blocks = splitBlocks(text.slice(0, end + 1));
        expect(blocks.slice(0, before.length - 1)).toEqual(before.slice(0, -1));
        before = blocks;
      }
    }
  });

  test("but not within code or a list", () => {
    expect(splitBlocks("```\na\n\nb\n```")).toHaveLength(1);
    expect(splitBlocks("- a\n\n- b\n\n  c")).toHaveLength(1);
    expect(splitBlocks("1. a\n\n   ```\n   x\n\n   y\n   ```\n\nend")).toHaveLength(2);
    expect(splitBlocks("a\n\nb")).toEqual(["a\n\n", "b"]);
  });
});

describe("hidden characters", () => {
  test("stand there by their code", () => {
    const pieces = revealed("rm\u202e -rf\u200b");
    expect(pieces.filter((piece) => piece.code).map((piece) => piece.code)).toEqual(["U+202E", "U+200B"]);
    expect(pieces.map((piece) => piece.text).join("")).toBe("rm\u202e -rf\u200b");
  });

  test.each(["\u2066", "\u2069", "\u00a0", "\u00ad", "\ufeff", "\u{e0041}", "\u{e0100}", "\u001b", "\r", "\u0000", "\u3164", "\u2028", "\ud800", "\ue000", "\u2800", "\ufe01"])(
    "%j is one", (character) => expect(hiddenCount(`a${character}b`)).toBe(1));

  test.each(["a\tb\n", "a\r\nb", "你好，世界", "👩‍👩‍👧 ❤️ 🏳️‍🌈", "naïve e\u0301", "مرحبا"])("%j has none", (text) => expect(hiddenCount(text)).toBe(0));

  test("a joiner outside of an emoji is one", () => expect(hiddenCount("a\u200db")).toBe(1));
});

describe("diffs", () => {
  test("a removed line that looks like a header is a line", () => {
    const lines = diffLines("--- a/x\n+++ b/x\n@@ -1,2 +1 @@\n--- x\n a\n--- a/y\n+++ b/y\n@@ -0,0 +1 @@\n+b\n");
    expect(lines.map((line) => line.kind)).toEqual(["header", "removed", "context", "header", "header", "added"]);
    expect(lines[1]?.text).toBe("-- x");
  });

  test("a line that only changes its end shows it", () => {
    expect(hunkLines("a\n", "a\r\n").map((line) => line.text)).toEqual(["a", "a\r"]);
    expect(diffLines("@@ -1 +1 @@\n-a\n+a\r\n").map((line) => line.text).slice(1)).toEqual(["a", "a\r"]);
    expect(hunkLines("a\r\n", "b\r\n").map((line) => line.text)).toEqual(["a", "b"]);
  });
});

describe("the composer's keys", () => {
  const plain = { shiftKey: false, ctrlKey: false, metaKey: false, altKey: false, isComposing: false, keyCode: 0 };
  const idle = { listed: false, empty: true, browsing: false };
  const intent = (key: string, more: object = {}, state = idle) => composerIntent({ ...plain, key, ...more }, state);

  test("Enter sends, Shift+Enter does not", () => {
    expect(intent("Enter")).toBe("send");
    expect(intent("Enter", { shiftKey: true })).toBeNull();
  });

  test("nothing is sent while an input method composes", () => {
    expect(intent("Enter", { isComposing: true })).toBeNull();
    expect(intent("Enter", { keyCode: 229 })).toBeNull();
  });

  test("Up goes back in an empty box only", () => {
    expect(intent("ArrowUp")).toBe("older");
    expect(intent("ArrowUp", {}, { ...idle, empty: false })).toBeNull();
    expect(intent("ArrowUp", {}, { ...idle, empty: false, browsing: true })).toBe("older");
    expect(intent("ArrowDown")).toBeNull();
  });

  test("a list of completions takes arrows, Enter, Tab and Escape", () => {
    const listed = { ...idle, listed: true };
    expect(["ArrowDown", "ArrowUp", "Enter", "Tab", "Escape"].map((key) => intent(key, {}, listed))).toEqual(["next", "previous", "take", "take", "closeList"]);
    expect(intent("Escape")).toBe("leave");
    expect(intent("Escape", { shiftKey: true })).toBe("stop");
  });
});

test("history walks back and forth, and what was kept is the newest", () => {
  const history = new History();
  expect([history.older(["a", "b"]), history.older(["a", "b"]), history.older(["a", "b"]), history.newer(["a", "b"]), history.newer(["a", "b"])]).toEqual(["b", "a", null, "b", ""]);
  history.keep("draft");
  expect(history.older(["a", "b"])).toBe("draft");
});

describe("completion", () => {
  const lookUp: LookUp = {
    mentions: async () => ({ places: [{ kind: "file", name: "a.py", uri: "file:///w/a.py" }, { kind: "folder", name: "src", uri: "file:///w/src" }] }),
    models: async () => ({ servers: [{ name: "Ollama", baseUrl: "", models: ["qwen", "llama"], isCurrent: true }] }),
  };
  const labels = async (before: string): Promise<string[]> => {
    const query = queryAt(before);
    return query ? (await complete(query, lookUp)).map((option) => option.label) : [];
  };

  test("of commands at the beginning, of places behind an @", async () => {
    expect(await labels("/mo")).toEqual(["/mode auto", "/mode ask", "/mode plan", "/model"]);
    expect(await labels("/new")).toEqual([]);
    expect(await labels("see /mo")).toEqual([]);
    expect(await labels("see @a")).toEqual(["a.py", "src/"]);
    expect(await labels("a@b")).toEqual([]);
    expect(await labels("/model q")).toEqual(["qwen"]);
  });

  test("a path is no command", () => {
    expect(commandOf("/etc/hosts is wrong")).toBeNull();
    expect(commandOf("/etc")).toBeNull();
    expect(commandOf("/mode plan")).toEqual({ name: "mode", argument: "plan" });
    expect(commandOf("/new")).toEqual({ name: "new", argument: "" });
  });
});

test("rows are found by their place", () => {
  const where = place(3, (at) => [10, 20, 30][at] ?? 0);
  expect(where.total).toBe(60);
  expect([0, 9, 10, 29, 30, 99].map((y) => rowAt(where, y))).toEqual([0, 0, 1, 1, 2, 2]);
  expect(range(where, -50, 15)).toEqual({ first: 0, last: 1 });
  expect(rowAt(place(0, () => 0), 5)).toBe(0);
});

test("code that grows is highlighted by whole lines, and its HTML has the same text", () => {
  const code = "def f(x):\n    return '<b>'\n".repeat(40);
  let done: ReturnType<typeof growing> = null;
  let times = 0;
  for (let end = 0; end <= code.length; end += 7) {
    const next = growing(code.slice(0, end), "python", done);
    if (next !== done) times += 1;
    done = next;
    if (done) expect(code.charAt(done.length - 1)).toBe("\n");
  }
  expect(times).toBeLessThan(20);
  expect(highlighted("'<img src=x>'", "python")).not.toContain("<img");
  expect(highlighted("x", "nonsense")).toBeNull();
});

test("values read well", () => {
  expect([0, 0.31, 9.97, 59.4, 185].map(duration)).toEqual(["", "0.3 s", "10 s", "59 s", "3 min 5 s"]);
  expect([940, 12_340, 18_000, 999_600, 1_250_000].map(tokens)).toEqual(["940", "12.3k", "18k", "1M", "1.3M"]);
  expect(shortPath("/w/a/b.py", "/w/")).toBe("a/b.py");
  expect(shortPath("/work/b.py", "/w")).toBe("/work/b.py");
});
