"""A trial's transcript as a terminal session."""

from __future__ import annotations

from breakfix.cli.output import say
from runners.records import TrialRecord, Turn


def show(record: TrialRecord) -> None:
    """Print what was thought, typed and answered, and what came of it."""
    trial = record.trial
    say(f"{trial.agent.label} in {trial.scenario}, world {trial.world}, attempt {trial.attempt}")
    for turn in record.turns:
        for line in _lines(turn):
            say(line)
    say("")
    for objective in record.objectives:
        when = f"by command {objective.met_at_command}" if objective.met else "not met"
        why = f" ({objective.detail})" if objective.detail else ""
        say(f"  {objective.points:.2f}  {objective.name}: {when}{why}")
    for fact in record.facts:
        say(f"  {fact.check} ({fact.world}, by {fact.means}): {fact.finding}: {fact.reason}")


def _lines(turn: Turn) -> list[str]:
    lines = [f"# {turn.think.strip()}"] if turn.think else []
    if turn.kind == "run":
        lines += [f"$ {turn.text}", *turn.output.splitlines()]
        if turn.exit_code:
            lines.append(f"[exit {turn.exit_code}]")
    elif turn.kind != "done":
        lines.append(f"[{turn.kind}] {turn.text}")
    lines += [f"[the world: {name}]" for name in turn.cascades]
    return lines
