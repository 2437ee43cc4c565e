"""Error codes: ours are told apart from those of JSON-RPC and LSP, and all are explained."""

from pails.core.rpc import ErrorCode

RESERVED = range(-32899, -31999)
"""By JSON-RPC (-32768 to -32000) and by LSP (-32899 to -32800)."""


def test_ours_are_in_nobody_elses_range() -> None:
    ours = [code for code in ErrorCode if code not in RESERVED]

    assert ours == [ErrorCode.NOT_FOUND, ErrorCode.CONFIGURATION, ErrorCode.EXTERNAL_FAILURE]


def test_each_has_one_sentence() -> None:
    assert [code.name for code in ErrorCode if code.meaning.count(". ")] == []
    assert [code.name for code in ErrorCode if not code.meaning.endswith(".")] == []
