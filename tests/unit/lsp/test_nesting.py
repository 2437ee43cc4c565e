"""The border that keeps recursion from ending in the middle of a request."""

import pytest

from pails.lsp.nesting import DEEPEST, is_nested_too_deep


@pytest.mark.parametrize("wrap", [lambda inner: [inner], lambda inner: {"a": 1, "b": inner}])
@pytest.mark.parametrize(("levels", "too_deep"), [(DEEPEST, False), (DEEPEST + 1, True)])
def test_levels_of_objects_and_arrays_are_counted(wrap, levels: int, too_deep: bool):
    data: object = "[" * 1000
    for _ in range(levels):
        data = wrap(data)
    assert is_nested_too_deep(data) is too_deep


@pytest.mark.parametrize("data", [None, 1, "x", [], {}, [[]] * 1000, {"a": [1, {"b": []}]}])
def test_what_is_flat_is_not(data: object):
    assert not is_nested_too_deep(data)
