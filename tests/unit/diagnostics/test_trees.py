"""A text that is parsed from its last version has just the errors that it has by itself."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from pails.diagnostics.trees import check
from pails.diagnostics.worker import Service
from tests.unit.diagnostics.samples import SAMPLES, Sample

PYTHON = (
    "def f(a):\n    if a:\n        return [a, (1)]\n    return 'é😀'\n\n\nclass B:\n    x = 1\n"
)
PIECES = st.sampled_from(["", "x", "(", ")", ":", "\n", "\r", "    ", "'", '"""', "é", "😀", "#"])
SPOTS = st.tuples(st.floats(0, 1), st.floats(0, 0.1), PIECES)


def edited(text: str, spot: tuple[float, float, str]) -> str:
    start = int(spot[0] * len(text))
    return text[:start] + spot[2] + text[start + int(spot[1] * len(text)) :]


@settings(max_examples=300)
@given(st.lists(SPOTS, min_size=1, max_size=4), st.sampled_from(["", "\ufeff"]))
def test_python_edit_by_edit(spots: list[tuple[float, float, str]], mark: str) -> None:
    text = mark + PYTHON
    checked = check(text, "python")
    for spot in spots:
        text = edited(text, spot)
        checked = check(text, "python", checked)
        assert checked.found == check(text, "python").found


@settings(max_examples=100)
@given(st.sampled_from(SAMPLES), st.lists(SPOTS, min_size=1, max_size=3))
def test_every_language(sample: Sample, spots: list[tuple[float, float, str]]) -> None:
    text, checked = sample.valid, check(sample.valid, sample.language)
    for spot in spots:
        text = edited(text, spot)
        checked = check(text, sample.language, checked)
        assert checked.found == check(text, sample.language).found


def test_another_language_starts_anew() -> None:
    before = check("x = 1\n", "python")
    assert check("{", "json", before).found
    assert check("{}", "json", before).found == []


# -- the service ----------------------------------------------------------------------------------


def asked(service: Service, number: int, *texts: str, **more: Any) -> dict[str, Any]:
    request = {"languages": ["python"], "path": "/a.py", "id": number, "texts": list(texts)}
    return service.answer({**request, **more})


def test_a_change_of_a_known_text_is_enough() -> None:
    service = Service()
    assert asked(service, 1, "x = 1\n", "x = 2\n")["new"] == []
    answer = asked(service, 2, ")", base=1, span=[4, 5])
    assert [start for start, *_ in answer["new"]] == [(1, 5)]
    assert asked(service, 3, "3", base=2, span=[4, 5]) == {
        "language": "python",
        "new": [],
        "existing": 0,
    }


def test_a_text_that_is_not_known_is_asked_for() -> None:
    service = Service()
    assert asked(service, 1, "1", base=0, span=[0, 0]) == {"unknown": True}
    asked(service, 2, "x = 1\n")
    assert asked(service, 3, "1", base=1, span=[0, 0]) == {"unknown": True}
    assert asked(service, 4, "1", base=2, span=[0, 0]) == {"unknown": True}, "it was let go"


def test_only_a_few_texts_are_kept() -> None:
    service = Service()
    for number in range(20):
        asked(service, number, "x = 1\n", path=f"/{number}.py")
    kept = [
        number
        for number in range(20)
        if "new" in asked(service, 99, "2", path=f"/{number}.py", base=number, span=[4, 5])
    ]
    assert kept == list(range(12, 20))
