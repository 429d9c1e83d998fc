"""breakfix play: sit at the prompt yourself."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Annotated

import typer

from breakfix.cli.console import interact, run_script
from breakfix.cli.output import say
from breakfix.cli.person import Person, prompting
from breakfix.content import open_scenario
from compiler.bundle import compile_pack
from compiler.verify import verify_under_ephemeral_key
from runners.agents.spec import AgentSpec
from runners.backends.registry import find_backend
from runners.interventions import NAME
from runners.plan import plan
from runners.records import AgentIdentity, TrialRecord, judge
from runners.sim.commands import COMMANDS
from runners.trials import Work, run_trial
from scenario_dsl.errors import AuthorError, InternalError
from scenario_dsl.model import Step
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
    library, written = open_scenario(name)
    only = replace(library, scenarios={written.name: written})
    bundle = verify_under_ephemeral_key(compile_pack(only))
    scenario = bundle.content.scenarios[written.name]
    ask = prompting(sorted(COMMANDS))
    spec = AgentSpec(identity=AgentIdentity(name="person", trusted=True), factory=lambda _setting: Person(ask))
    resolved = plan([bundle], [spec], backend="sim", seeds=(seed,))
    work = Work(
        contents={bundle.digest: bundle.content}, factories={spec.identity: spec.factory}, backend=find_backend("sim")
    )
    records: list[TrialRecord] = []
    for number, job in enumerate(resolved.jobs(), start=1):
        if records and not _go_on(ask):
            break
        # Which world it is stays untold: a call that may be a false alarm must be looked into like any other.
        say(f"\n── {scenario.title} ── call {number} of {resolved.size}\n")
        record = run_trial(job, work)
        records.append(record)
        _show_result(record)
        if record.outcome == "Errored" or any(
            fact.finding == "fail" for fact in record.facts if fact.check == "primary"
        ):
            break
    say(f"\nVerdict: {judge(records)}. {_MEANING[judge(records)]}")
    if len(records) < resolved.size and judge(records) == "UNKNOWN":
        say(f"  because: of {resolved.size} calls you took {len(records)}")
    for reason in dict.fromkeys(
        fact.reason for record in records for fact in record.facts if fact.finding in _DECISIVE
    ):
        say(f"  because: {reason}")
    if reveal:
        _show_gold(scenario)
    # A world that failed is ours to mend, and no verdict on anybody.
    return InternalError.exit_code if any(record.outcome == "Errored" for record in records) else 0


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


def _show_result(record: TrialRecord) -> None:
    if record.error is not None:
        sys.stderr.write(f"{record.error}\n")
    say("")
    if record.score is not None:
        say(
            f"Score {record.score:g} of {record.trial.full_score:g}, {record.commands} commands, {record.seconds:.0f} s"
        )
        for objective in record.objectives:
            say(f"  {'✓' if objective.met else '✗'} {objective.points:.2f}  {objective.name}")
    for fact in record.facts:
        say(f"  {fact.check}: {fact.finding}: {fact.reason}")
    told = " ".join(fact.reason for fact in record.facts)
    for harm in record.harms:
        if harm not in told:
            say(f"  harm: {harm}")


def _show_gold(scenario: ResolvedScenario) -> None:
    say("\nHow an expert went about it:")
    if scenario.gold.hypothesis:
        say(f"  Hypothesis: {scenario.gold.hypothesis.strip()}")
    for step in scenario.gold.steps:
        for line in _as_typed(step):
            say(f"  {line}")


def _as_typed(step: Step) -> Iterator[str]:
    """One step as somebody would type it: what it finds out gets a name, what is guarded stands behind a guard."""
    if step.think:
        yield f"# {' '.join(step.think.split())}"
    command = _in_shell(step.run) if step.run else ""
    if step.discover:
        command = f"{step.discover}=$({command})"
    if step.answer:
        command = f":answer {_in_shell(step.answer)}"
    if step.only_if:
        command = f"if {_in_shell(step.only_if)}; then {command}; fi"
    yield from (command if command.startswith(":") else f"$ {command}").splitlines()


def _in_shell(text: str) -> str:
    """Discovered names as the shell writes them: `{{ failed }}` is `${failed}`."""
    return NAME.sub(r"${\1}", text.strip())
