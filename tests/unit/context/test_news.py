"""What became of the model's work is told in one block, and never at great length."""

from pails.context.news import MAX_CHARS, News, render_news


def test_nothing_to_tell_is_nothing() -> None:
    assert render_news([]) == ""


def test_each_fact_stands_with_its_diff() -> None:
    block = render_news([News("a.py: rejected.", "-x\n+y\n"), News("b.py: gone.")])
    assert block.startswith("<review>\n")
    assert block.endswith("a.py: rejected.\n-x\n+y\nb.py: gone.\n</review>")


def test_a_long_diff_is_cut_at_a_line_and_counted() -> None:
    diff = "".join(f"+字 {number}\n" for number in range(2_000))
    block = render_news([News("a.py: changed.", diff)])
    assert len(block) < MAX_CHARS + 300
    shown = [line for line in block.split("\n") if line.startswith("+")]
    assert shown == diff.split("\n")[: len(shown)]
    assert f"[… {2_000 - len(shown):,} more lines; read the files]" in block


def test_what_was_said_comes_before_the_lines_of_any_diff() -> None:
    diff = "+" + "x" * 300 + "\n"
    news = [News(f"a.py: rejected, “no {number}”.", diff * 3) for number in range(60)]
    block = render_news(news)
    assert len(block) < MAX_CHARS + 300
    assert all(one.said in block for one in news)


def test_a_line_without_end_is_not_shown_at_all() -> None:
    block = render_news([News("a.py: changed.", "+" + "x" * 100_000)])
    assert "a.py: changed.\n[… 1 more line; read the files]" in block
