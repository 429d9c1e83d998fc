"""Proving: a scenario is played in every way that could show it to be wrong, before anybody may sign it.

Invariant: each check returns findings, at least one; what does not apply to a scenario is declared so with its reason,
and a check that breaks down is a finding against the scenario, never a gap.
"""
