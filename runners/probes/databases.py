"""sql and redis: the answer."""

from __future__ import annotations

from runners.patterns import found
from runners.probes.arguments import Arguments
from runners.probes.seen import Seen
from runners.worlds import Observation


def judge(value: str | None, arguments: Arguments) -> Observation:
    """`value`: what a question that succeeded was answered with; None for no value."""
    seen, equals, pattern = Seen(), arguments.text("equals"), arguments.text("matches")
    fact = f"the answer is {value}"
    if equals is not None:
        seen.expect(value == equals, fact)
    if pattern is not None:
        seen.expect(value is not None and found(pattern, value), fact)
    if equals is None and pattern is None:
        seen.expect(True, fact)
    return seen.observation()
