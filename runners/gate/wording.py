"""Facts, as the checks make them."""

from __future__ import annotations

from runners.records import Check, GateFact, Means, Standing


def fact(check: Check, world: str, means: Means, finding: Standing, reason: str) -> GateFact:
    return GateFact(check=check, world=world, means=means, finding=finding, reason=reason)
