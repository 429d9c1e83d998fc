"""http: an answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from runners.patterns import found
from runners.probes.arguments import Arguments
from runners.probes.seen import Seen


class Answer(NamedTuple):
    """status: its code; header: the value of one, None where there is none; seconds: how long it took."""

    status: int
    body: bytes
    header: Callable[[str], str | None]
    seconds: float


def patience(arguments: Arguments, longest: float) -> float:
    """How many seconds to wait for an answer: a little longer than it may take, so that lateness is seen as such."""
    within = arguments.number("within")
    return longest if within is None else min(longest, within + 1)


def judge(answer: Answer, arguments: Arguments, seen: Seen) -> None:
    """Hold an answer against what is expected."""
    url, status = arguments.require("url"), arguments.integer("status")
    seen.expect(answer.status < 400 if status is None else answer.status == status, f"{url} gave {answer.status}")
    pattern = arguments.text("body_matches")
    if pattern is not None:
        there = found(pattern, answer.body.decode("utf-8", "replace"))
        seen.expect(there, f"its body {'matches' if there else 'does not match'} /{pattern}/")
    for name, wanted in arguments.mapping("header").items():
        value = answer.header(name)
        seen.expect(value is not None and found(str(wanted), value), f"its {name} is {value}")
    within = arguments.number("within")
    if within is not None:
        seen.expect(answer.seconds <= within, f"it took {answer.seconds:.3f} s")
