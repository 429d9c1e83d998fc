"""What a backend cannot do ends a trial as Errored, whatever it was."""

from __future__ import annotations

import pytest

from runners.guarding import guarded
from runners.worlds import WorldError


class Spent(BaseException):
    """Not an Exception, so that nothing on the way takes it for its own."""


@guarded("the thing", Spent)
def work(error: BaseException | None) -> int:
    """Fail, or do not."""
    if error is not None:
        raise error
    return 7


@pytest.mark.parametrize("error", [KeyError("x"), AttributeError("x"), RecursionError(), Spent("x"), OSError(5, "x")])
def test_whatever_fails_is_ours(error: BaseException) -> None:
    with pytest.raises(WorldError, match=rf"^the thing failed: {type(error).__name__}: ") as raised:
        work(error)
    assert raised.value.__cause__ is error


@pytest.mark.parametrize("error", [WorldError("as it was"), KeyboardInterrupt()])
def test_what_is_said_already_is_not_said_again(error: BaseException) -> None:
    with pytest.raises(type(error)) as raised:
        work(error)
    assert raised.value is error


def test_it_is_still_the_same_function() -> None:
    assert work(None) == 7
    assert work.__doc__ == "Fail, or do not."
