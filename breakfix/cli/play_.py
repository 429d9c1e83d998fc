"""breakfix play: sit at the prompt yourself."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated

import typer

from breakfix.cli.bundles import single
from breakfix.cli.console import interact, run_script
from breakfix.cli.output import say
from breakfix.cli.person import Person, prompting
from runners.agents.protocol import Setting
from runners.agents.registry import parse_agent
from runners.agents.spec import AgentSpec
from runners.backends.registry import find_backend
from runners.plan import Plan, plan
from runners.records import AgentIdentity, TrialRecord, judge
from runners.sim.commands import COMMANDS
from runners.trials import Job, Work, run_trial
from scenario_dsl.errors import AuthorError, InternalError
from scenario_dsl.worlds import ResolvedScenario


def command(
    scenario: Annotated[
        str | None, typer.Argument(help="A scenario: PACK/NAME, a file, or a shipped one's name.")
    ] = None,
    system: Annotated[str | None, typer.Option("--system", help="Instead: the unbroken system of that name.")] = None,
    script: Annotated[
        str | None, typer.Option("-c", help="With --system: run this script in a fresh world, and exit as it does.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Another seed is another course of the same world.")] = 0,
    reveal: Annotated[bool, typer.Option("--reveal/--no-reveal", help="Show the expert's way at the end.")] = True,
) -> int:
    """Sit at the prompt yourself: a scenario with its complaint, hints and verdict, or an unbroken system.

    Once the machine is back you may go on to the twin and the control: only then can it be VERIFIED.

    Examples:

        breakfix play process-recovery

        breakfix play --system web-server

        breakfix play --system web-server -c 'df -h; systemctl is-active nginx'
    """
    if system is not None:
        return run_script(system, script, seed) if script is not None else interact(system, seed)
    if scenario is None:
        raise AuthorError("name a scenario, for example process-recovery, or a system with --system web-server")
    if script is not None:
        raise AuthorError("-c goes with --system; to play a scenario by script, use `breakfix run --agent script:FILE`")
    return _play(scenario, seed, reveal)


def _play(name: str, seed: int, reveal: bool) -> int:
    bundle, name = single(name)
    scenario = bundle.content.scenarios[name]
    ask = prompting(sorted(COMMANDS))

    def person(_setting: Setting) -> Person:
        return Person(ask, repairs=scenario.kind == "repair")

    spec = AgentSpec(identity=AgentIdentity(name="person", trusted=True), factory=person)
    expert = parse_agent("gold")
    work = Work(
        contents={bundle.digest: bundle.content},
        factories={each.identity: each.factory for each in (spec, expert)},
        backend=find_backend("sim"),
    )
    calls = _calls(plan([bundle], [spec], backends=("sim",), seeds=(seed,)))
    records: list[TrialRecord] = []
    for number, job in enumerate(calls, start=1):
        if records and not _go_on(ask):
            break
        # Which world it is stays untold: a call that may be a false alarm must be looked into like any other.
        say(f"\n── {scenario.title} ── call {number} of {len(calls)}\n")
        record = run_trial(job, work)
        records.append(record)
        _show_end(record)
        _show_result(record)
        if record.outcome == "Errored" or any(
            fact.finding == "fail" for fact in record.facts if fact.check == "primary"
        ):
            break
    if any(record.outcome == "Errored" for record in records):
        # A world that failed is ours to mend, no verdict on anybody, and no reason to give away the answer.
        say("\nNo verdict: the world failed, which is our fault and not yours. Play it again, or report it.")
        return InternalError.exit_code
    verdict = judge(records)
    say(f"\nVerdict: {verdict}. {_MEANING[verdict]}")
    if len(records) < len(calls) and verdict == "UNKNOWN":
        say(f"  because: of {len(calls)} calls you took {len(records)}")
    for reason in dict.fromkeys(
        fact.reason for record in records for fact in record.facts if fact.finding in _DECISIVE
    ):
        say(f"  because: {reason}")
    if reveal:
        _show_gold(scenario, run_trial(_calls(plan([bundle], [expert], backends=("sim",), seeds=(seed,)))[0], work))
    return 0


def _calls(resolved: Plan) -> Sequence[Job]:
    """The primary, then the others in an order that tells nothing of which is which."""
    first, *others = resolved.jobs()
    return (first, *sorted(others, key=lambda job: job.trial_id))


_MEANING: Mapping[str, str] = {
    "VERIFIED": "You understood it: twin, control, repeat and rollback agree.",
    "RECOVERED_UNPROVEN": "The machine is up again; that you understood why is not proven.",
    "NOT_RECOVERED": "What was asked for is not done.",
    "HARMFUL": "Something healthy was hurt.",
    "UNKNOWN": "Not every check was made, so nobody can say.",
}


_DECISIVE = ("harm", "fail", "unknown")


def _go_on(ask: Callable[[str], str | None]) -> bool:
    answer = ask("\nGo on to the next call? It helps to decide whether you understood. [Y/n] ")
    return answer is not None and answer.strip().lower() in ("", "y", "yes")


def _show_end(record: TrialRecord) -> None:
    """What a person has not seen yet where it was not they who ended it."""
    last = record.turns[-1] if record.turns else None
    if record.error is None and last is not None and last.kind != "done":
        sys.stdout.write(last.output if not last.output or last.output.endswith("\n") else f"{last.output}\n")
        say("[the time is up]" if record.seconds >= record.trial.max_seconds else "[that was the last action]")


def _show_result(record: TrialRecord) -> None:
    if record.error is not None:
        sys.stderr.write(f"{record.error}\n")
    say("")
    if record.score is not None:
        commands = f"{record.commands} command{'s' if record.commands != 1 else ''}"
        say(f"Score {record.score:g} of {record.trial.full_score:g}, {commands}, {record.seconds:.0f} s")
        for objective in record.objectives:
            say(f"  {'✓' if objective.met else '✗'} {objective.points:.2f}  {objective.name}")
    for fact in record.facts:
        say(f"  {fact.check}: {fact.finding}: {fact.reason}")
    told = " ".join(fact.reason for fact in record.facts)
    for harm in record.harms:
        if harm not in told:
            say(f"  harm: {harm}")


def _show_gold(scenario: ResolvedScenario, record: TrialRecord) -> None:
    say("\nHow an expert went about it, on the first call:")
    if scenario.gold.hypothesis:
        say(f"  Hypothesis: {scenario.gold.hypothesis.strip()}")
    for turn in record.turns:
        if turn.think:
            say(f"  # {' '.join(turn.think.split())}")
        if turn.text:
            for line in (f":answer {turn.text}" if turn.kind == "answer" else f"$ {turn.text}").splitlines():
                say(f"  {line}")
