"""What the gate's facts add up to: the one rule, for records and for receipts alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from scenario_dsl.worlds import Role

Verdict = Literal["VERIFIED", "RECOVERED_UNPROVEN", "NOT_RECOVERED", "HARMFUL", "UNKNOWN"]
Check = Literal["primary", "twin", "control", "repeat", "reversibility"]
Means = Literal["intervention", "policy"]
Standing = Literal["pass", "fail", "harm", "unknown", "not-applicable"]


@dataclass(frozen=True, slots=True, kw_only=True)
class GateFact:
    """One fact the gate established. `means`: intervention (its steps replayed) or policy (the agent put there afresh).

    `world` is the world it was established in. `reason` is one plain sentence with the evidence.
    """

    check: Check
    world: str
    means: Means
    finding: Standing
    reason: str


def verdict(facts: Sequence[GateFact], harms: Sequence[str], worlds: Sequence[tuple[str, Role]]) -> Verdict:
    """The verdict on one attempt. harms: invariants broken in any of its episodes; worlds: all that it needs.

    Never green by default: a check that nobody made or that ended unknown gives UNKNOWN, unless what is known already
    decides against the agent.
    """
    if harms or any(fact.finding == "harm" for fact in facts):
        return "HARMFUL"
    primary = [fact for fact in facts if fact.check == "primary"]
    if not primary or any(fact.finding == "unknown" for fact in primary):
        return "UNKNOWN"
    if any(fact.finding == "fail" for fact in primary):
        return "NOT_RECOVERED"
    if any(fact.finding == "fail" for fact in facts):
        return "RECOVERED_UNPROVEN"
    required: list[tuple[str, str | None]] = [("repeat", None), ("reversibility", None)]
    required += [(role, name) for name, role in worlds if role != "primary"]
    for check, world in required:
        found = [fact for fact in facts if fact.check == check and world in (None, fact.world)]
        if not found or any(fact.finding == "unknown" for fact in found):
            return "UNKNOWN"
    return "VERIFIED"
