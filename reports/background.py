"""What a report may say of a scenario beyond its records: its title, what the agent was told, and its proof.

It comes from a verified bundle, by way of the command line; a report never opens bundles itself.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that proving established; `passed` None: it does not apply, and `detail` says why."""

    check: str
    world: str
    passed: bool | None
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Background:
    """One scenario of one bundle. `findings` is empty for a bundle that was signed as unproven."""

    bundle_digest: str
    scenario: str
    title: str
    complaint: str
    repeats: int
    findings: tuple[Finding, ...]
