"""Finding syntax errors: where they are and how they read."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pails.diagnostics.syntax import MAX_FINDINGS, Finding
from pails.diagnostics.trees import check
from tests.unit.diagnostics.samples import SAMPLES, Sample


def errors(language: str, text: str) -> list[Finding]:
    return check(text, language).found


def heads(language: str, text: str) -> list[tuple[int, int, str]]:
    """The errors that are not nested: line, column, message."""
    return [(*it.start, it.message) for it in errors(language, text) if not it.nested]


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.language)
class TestSamples:
    def test_valid_text_has_no_errors(self, sample: Sample) -> None:
        assert errors(sample.language, sample.valid) == []

    def test_mistake_is_found_where_it_is(self, sample: Sample) -> None:
        found = errors(sample.language, sample.broken)
        assert found
        assert abs(found[0].start[0] - sample.line) <= 1
        assert found[0].message

    def test_byte_order_mark_and_line_ends_change_nothing(self, sample: Sample) -> None:
        for text in (sample.valid, sample.broken):
            plain = errors(sample.language, text)
            assert errors(sample.language, "\ufeff" + text) == plain
            crlf = errors(sample.language, "\ufeff" + text.replace("\n", "\r\n"))
            assert [it.start for it in crlf] == [it.start for it in plain]
            assert not any("\r" in it.source_line + it.message for it in crlf)


def test_markdown_takes_every_text() -> None:
    assert errors("markdown", "# 标题\n\n* a\n\n```py\nx = (\n") == []


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("python", "x = (1 + 2\ny = 3\n", (1, 5, '"(" is not closed before "y" of line 2')),
        ("python", "def f(a)\n    return a\n", (2, 5, 'unexpected "return"')),
        ("python", "x = [1)\n", (1, 5, '"[" is not closed before ")"')),
        ("python", "s = 'abc\ny = 2\n", (1, 5, '"\'" is not closed')),
        ("javascript", "if (a) {\n  f(1;\n}\n", (2, 4, '"(" is not closed before ";"')),
        ("javascript", "}\nlet a;\n", (1, 1, 'unexpected "}"')),
        ("javascript", "function f() {\n  g();\n", (1, 14, '"{" is not closed before end of file')),
        ("go", "package a\nfunc f() {\n\tg(1\n}\n", (3, 5, 'missing ")" for "(" of line 3')),
        ("json", '{"a": 1\n "b": 2}', (2, 2, "unexpected '\"'")),
        ("json", "[1, 2,]", (1, 7, 'missing number before "]"')),
        ("json", '{"a": ', (1, 1, '"{" is not closed before end of file')),
    ],
)
def test_messages(language: str, text: str, expected: tuple[int, int, str]) -> None:
    assert heads(language, text)[0] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("def f():\nreturn 1\n", (1, 9, "expected an indented block for line 1")),
        ("if a:\n    b\nelse:\nc\n", (3, 6, "expected an indented block for line 3")),
        ("a = 1\n    b = 2\nc = 3\n", (2, 5, "unexpected indentation")),
        ("def f():\n        a = 1\n    return a\n", (3, 5, "unexpected indentation")),
        ("class A:\n    # nothing\n", (1, 9, "expected an indented block for line 1")),
    ],
)
def test_python_indentation(text: str, expected: tuple[int, int, str]) -> None:
    assert heads("python", text) == [expected]


@pytest.mark.parametrize(
    "text",
    [
        "if a: b; c\nd\n",
        "def f(\n        a,\n    b):\n    '''x\ny'''\n    return (a,\nb)\n",
        "# a\n    # b\nx = 1\n",
        "try:\n\ta\nexcept* E:\n\tb\nfinally:\n\tc\n",
        "match a:\n  case 1: pass\n  case _:\n     pass\n",
        "@d\nclass A: ...\n",
    ],
)
def test_valid_python_indentation(text: str) -> None:
    assert errors("python", text) == []


def test_columns_count_code_points() -> None:
    found = errors("python", "a = '😀é中' + )\n")
    assert (found[0].start, found[0].end) == ((1, 13), (1, 14))


def test_unicode_line_separators_end_no_line() -> None:
    (found,) = errors("json", '["a\u2028b\u0085", )]')
    assert found.start == (1, 10)


def test_lone_carriage_returns_end_lines() -> None:
    assert errors("python", "x = 1\ry = 2\r") == []
    assert heads("python", "x = 1\ry = (\r") == [(2, 5, '"(" is not closed before end of file')]


def test_trailing_comma_is_an_error_in_strict_json_only() -> None:
    text = '{"a": [1,],}'
    assert errors("jsonc", text) == []
    assert len(errors("json", text)) == 2
    assert errors("jsonc", '{"a": [1,,]}')
    assert errors("jsonc", '{"a": [1, /* b */], // c\n}') == []


def test_comments_are_never_the_unexpected_token() -> None:
    assert heads("python", "def f(a)  # why\n    return a\n") == [(2, 5, 'unexpected "return"')]
    assert heads("json", '{"a": 1 // b\n "b": 2}')[0] == (2, 2, "unexpected '\"'")


def test_long_line_is_cut_around_the_error() -> None:
    found = errors("javascript", "a();" * 500 + "f(;" + "b();" * 500)[0]
    assert len(found.source_line) == 162
    assert found.source_line.startswith("…")
    assert found.source_line.endswith("…")
    assert "f(;" in found.source_line


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\ufeff",
        "\0" * 100,
        "\x89PNG\r\n\x1a\n",
        "\ud83d x = (",
        "(" * 30_000,
        "[" * 20_000 + "]" * 19_999,
        "if a:\n" * 3000,
        "\\" * 1000,
        "}" * 5000,
    ],
    ids=range(10),
)
@pytest.mark.parametrize("language", ["python", "javascript", "json", "yaml"])
def test_odd_texts_do_no_harm(language: str, text: str) -> None:
    assert len(errors(language, text)) <= MAX_FINDINGS


@settings(max_examples=150)
@given(
    st.sampled_from(["python", "javascript", "json", "bash", "html"]),
    st.text(alphabet="ab1 \n\r\t(){}[]'\"`:;,=.<>/#$\\é😀\ufeff\u2028", max_size=80),
)
def test_places_are_within_the_text(language: str, text: str) -> None:
    body = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    lines = body.split("\n")
    found = errors(language, text)
    assert [it.start for it in found] == sorted({it.start for it in found})
    for it in found:
        assert it.start <= it.end
        for line, column in (it.start, it.end, it.anchor):
            assert 1 <= line <= len(lines)
            assert 1 <= column <= len(lines[line - 1]) + 1
        assert it.source_line == lines[it.start[0] - 1]
