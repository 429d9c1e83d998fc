"""breakfix run: agents over the worlds of verified bundles."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Annotated, Literal

import typer

from breakfix.cli.options import Inventory, Json, Owned, Quiet, TrustKey, backend_on, trusted
from breakfix.cli.output import emit, say
from breakfix.cli.running import Asked, errors, executor_for, from_document, last_beside, summary_data
from breakfix.cli.watching import watching
from compiler.verify import verify
from runners.agents.registry import parse_agent
from runners.course import Course, retrying
from runners.plan import plan
from runners.planning.document import is_plan
from runners.planning.resolving import Resolved
from runners.run import Summary, run
from scenario_dsl.errors import AuthorError

_REASONS, _REASON_WIDTH = 5, 200
"""The most reasons that are shown, and the most characters of each."""


def command(
    what: Annotated[
        list[Path],
        typer.Argument(
            metavar="PLAN.yml | BUNDLE...",
            help="A plan's document, or signed bundles: folders, or tars with their envelopes.",
        ),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="The run folder; the same one goes on where it stopped.")],
    agents: Annotated[
        list[str] | None,
        typer.Option(
            "--agent",
            "-a",
            help="gold, bad, nop, random, script:FILE, cmd:PROGRAM, llm:PROVIDER/MODEL, module:Class; repeat it.",
        ),
    ] = None,
    trust: TrustKey = None,
    attempts: Annotated[
        int | None, typer.Option("--attempts", "-n", min=1, help="Attempts of each agent in each world.  [default: 1]")
    ] = None,
    seeds: Annotated[list[int] | None, typer.Option("--seed", help="Repeat it for several seeds.")] = None,
    scenarios: Annotated[list[str] | None, typer.Option("--scenario", "-s", help="Only these scenarios.")] = None,
    worlds: Annotated[
        list[str] | None, typer.Option("--world", "-w", help="Only these worlds, by role or name.")
    ] = None,
    training: Annotated[
        bool, typer.Option("--training", help="The agents learn from what they play: heldout scenarios are refused.")
    ] = False,
    retries: Annotated[
        int | None, typer.Option(min=0, help="How often an Errored trial is played again.  [default: 2]")
    ] = None,
    since: Annotated[
        list[Path] | None,
        typer.Option("--since", metavar="RUN", help="Take over what this earlier run has of the plan; repeat it."),
    ] = None,
    since_last: Annotated[
        bool,
        typer.Option("--since-last", help="Take over from the last run beside --out; only what changed is played."),
    ] = False,
    executor: Annotated[
        Literal["ray", "local"],
        typer.Option(help="ray: all cores, or the cluster of $RAY_ADDRESS. local: in this process."),
    ] = "ray",
    workers: Annotated[
        int | None, typer.Option("--workers", "-j", min=1, help="Ray workers; default: every CPU.")
    ] = None,
    backends: Annotated[
        list[str] | None,
        typer.Option(
            "--backend", help="What worlds are made of; repeat it to play everything on each.  [default: sim]"
        ),
    ] = None,
    inventory: Inventory = None,
    owned: Owned = False,
    quiet: Quiet = False,
    as_json_document: Json = False,
) -> int:
    """Run agents over the worlds of verified bundles, into a resumable run folder.

    Killed or interrupted, the same command goes on where it stopped: every planned trial ends in exactly one result.
    Exit code 130 after Ctrl-C (what is under way is finished and kept), 2 when trials stayed Errored or the budget of a
    plan was used up.

    Examples:

        breakfix run build/starter --trust me.key.pub -a gold -a nop -a bad --attempts 20 --out runs/first

        breakfix run nightly.yml --trust me.key.pub --out runs/2026-03-01 --since-last
    """
    if len(what) == 1 and is_plan(what[0]):
        given = {
            "--agent": agents, "--attempts": attempts, "--seed": seeds, "--scenario": scenarios, "--world": worlds,
            "--training": training or None, "--retries": retries, "--backend": backends,
        }  # fmt: skip
        twice = [name for name, value in given.items() if value is not None]
        if twice:
            raise AuthorError(f"{what[0]} says what is played and how; leave {', '.join(twice)} to it")
        asked = from_document(what[0], trusted(trust))
    elif not agents:
        raise AuthorError("name at least one agent with --agent, or give a plan's document (.yml)")
    else:
        verified = [verify(path, trusted(trust)) for path in what]
        specs = [parse_agent(text, training=training) for text in agents]
        resolved = plan(
            verified,
            specs,
            backends=backends or ("sim",),
            scenarios=scenarios or (),
            worlds=worlds or (),
            attempts=attempts or 1,
            seeds=seeds or (0,),
        )
        asked = Asked(
            resolved=Resolved(plan=resolved, bundles=tuple(verified), agents=tuple(specs)),
            course=Course() if retries is None else Course(retries=retrying(retries)),
            backends=tuple(
                backend_on(name, inventory if name == "kernel" else None, owned=owned) for name in resolved.backends
            ),
        )
    if inventory is not None and (executor != "local" or "kernel" not in (backends or ())):
        raise AuthorError("--inventory is for --backend kernel, and needs --executor local: a host is one process's")
    if executor == "local" and workers is not None:
        raise AuthorError("--workers is for the ray executor; local plays in this process")
    earlier = list(since or ())
    if since_last and (last := last_beside(out)) is not None:
        earlier.append(last)
    # What others print meanwhile (Ray about a lost node, an agent of yours) is not ours to give to scripts.
    with watching(out, quiet=quiet) as report, redirect_stdout(sys.stderr):
        summary = run(
            asked.resolved.plan,
            asked.resolved.bundles,
            asked.resolved.agents,
            asked.backends,
            out,
            executor=executor_for(local=executor == "local", workers=workers or asked.workers),
            course=asked.course,
            earlier=earlier,
            progress=report,
        )
    if as_json_document:
        emit(summary_data(out, summary))
    else:
        _tell(out, asked, summary)
    if summary.interrupted:
        return 130
    return 2 if summary.errored or summary.stopped else 0


def _tell(out: Path, asked: Asked, summary: Summary) -> None:
    kept = f", {summary.resumed} of them from before" if summary.resumed else ""
    kept += f", {summary.carried} taken over from earlier runs" if summary.carried else ""
    say(f"{summary.done} of {summary.planned} trials are in {out}{kept}")
    if summary.spent.tokens:
        say(f"used {summary.spent.tokens} tokens; what has a known price cost {summary.spent.money:.4f}")
    if summary.errored:
        say(f"{summary.errored} stayed Errored (the infrastructure, not the agents); they stay in every denominator")
        reasons = errors(out)
        for reason, number in list(reasons.items())[:_REASONS]:
            say(f"  {number} × {' '.join(reason.split())[:_REASON_WIDTH]}")
        if len(reasons) > _REASONS:
            say(f"  and {len(reasons) - _REASONS} other reasons; `--json` has them all")
    if summary.left:
        say("left: " + ", ".join(f"{count} of {label}" for label, count in summary.left.items()))
    if summary.stopped:
        say(f"the budget is used up ({summary.stopped}); with a larger one the same command goes on from here")
    elif summary.interrupted:
        say("interrupted; the same command goes on from here")
    else:
        ready, playing = summary.seconds
        against = f" --baseline {asked.baseline}" if asked.baseline is not None else ""
        say(f"took {playing:.1f} s, and {ready:.1f} s to get ready; next: breakfix report {out}{against}")
