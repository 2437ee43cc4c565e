from pails.cli.output import HEAD_LINES, TAIL_LINES, OutputView


def show(*pieces: str) -> list[str]:
    view = OutputView()
    lines = [line for piece in pieces for line in view.feed(piece)]
    return lines + list(view.finish())


def test_lines_are_joined_from_pieces():
    assert show("on", "e\ntw", "o") == ["one", "two"]


def test_the_beginning_and_the_end_of_long_output_are_kept():
    count = HEAD_LINES + TAIL_LINES + 5
    lines = [str(number) for number in range(count)]
    shown = show("\n".join(lines))
    assert shown == [*lines[:HEAD_LINES], "… 5 lines …", *lines[-TAIL_LINES:]]


def test_output_that_just_fits_is_whole():
    lines = [str(number) for number in range(HEAD_LINES + TAIL_LINES)]
    assert show("\n".join(lines) + "\n") == lines


def test_a_progress_bar_leaves_its_last_state():
    assert show("10 %\r50 %\r", "100 %\r\n", "done\r\n") == ["100 %", "done"]
