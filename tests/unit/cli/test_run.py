"""What the ends of turns and failures mean to a script."""

import pytest

from pails.cli.run import exit_code, exit_code_of
from pails.core.errors import (
    ConfigurationError,
    InvalidRequestError,
    ModelUnavailableError,
    NotFoundError,
    PailsError,
)
from pails.core.events import RunState, StopReason, TurnEnded
from pails.core.messages import Usage


@pytest.mark.parametrize(
    ("reason", "missed", "code"),
    [
        (StopReason.DONE, False, 0),
        (StopReason.DONE, True, 3),
        (StopReason.MAX_ROUNDS, False, 1),
        (StopReason.MAX_ROUNDS, True, 1),
        (StopReason.ERROR, True, 1),
        (StopReason.INTERRUPTED, False, 1),
        (StopReason.CANCELLED, True, 130),
    ],
)
def test_the_exit_code_of_a_turn(reason: StopReason, missed: bool, code: int):
    end = TurnEnded("turn", RunState.COMPLETED, reason, 1, Usage(), 1.0)
    assert exit_code(end, missed=missed) == code


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        (ConfigurationError, 2),
        (NotFoundError, 2),
        (InvalidRequestError, 2),
        (ModelUnavailableError, 1),
        (PailsError, 1),
    ],
)
def test_the_exit_code_of_a_failure(kind: type[PailsError], code: int):
    assert exit_code_of(kind("because")) == code
