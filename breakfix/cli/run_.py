"""breakfix run: agents over the worlds of a verified bundle."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from breakfix.cli.options import BackendName, Json, Quiet, TrustKey, trusted
from breakfix.cli.output import emit, progress, say
from breakfix.cli.running import play_plan
from compiler.verify import verify
from runners.agents.registry import parse_agent
from runners.backends.registry import find_backend
from runners.plan import plan
from scenario_dsl.errors import AuthorError


def command(
    bundles: Annotated[list[Path], typer.Argument(help="Signed bundles: folders, or tars with their envelopes.")],
    agents: Annotated[
        list[str], typer.Option("--agent", "-a", help="gold, bad, bad:HABIT, nop, random, script:FILE; repeat it.")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="The run folder; the same one goes on where it stopped.")],
    trust: TrustKey = None,
    attempts: Annotated[int, typer.Option("--attempts", "-n", min=1, help="Attempts of each agent in each world.")] = 1,
    seeds: Annotated[list[int] | None, typer.Option("--seed", help="Repeat it for several seeds.")] = None,
    scenarios: Annotated[list[str] | None, typer.Option("--scenario", "-s", help="Only these scenarios.")] = None,
    worlds: Annotated[
        list[str] | None, typer.Option("--world", "-w", help="Only these worlds, by role or name.")
    ] = None,
    training: Annotated[
        bool, typer.Option("--training", help="The agents learn from what they play: heldout scenarios are refused.")
    ] = False,
    retries: Annotated[int, typer.Option(min=0, help="How often an Errored trial is played again.")] = 2,
    executor: Annotated[
        Literal["ray", "local"],
        typer.Option(help="ray: all cores, or the cluster of $RAY_ADDRESS. local: in this process."),
    ] = "ray",
    workers: Annotated[
        int | None, typer.Option("--workers", "-j", min=1, help="Ray workers; default: every CPU.")
    ] = None,
    backend: BackendName = "sim",
    quiet: Quiet = False,
    as_json_document: Json = False,
) -> int:
    """Run agents over the worlds of verified bundles, into a resumable run folder.

    Killed or interrupted, the same command goes on where it stopped: every planned trial ends in exactly one result.
    Exit code 130 after Ctrl-C (what is under way is finished and kept), 2 when trials stayed Errored.

    Examples:

        breakfix run build/starter --trust me.key.pub -a gold -a nop -a bad --attempts 20 --out runs/first

        breakfix run build/starter -a script:fix.txt -s process-recovery -w primary -o runs/mine --executor local
    """
    verified = [verify(path, trusted(trust)) for path in bundles]
    specs = [parse_agent(text, training=training) for text in agents]
    resolved = plan(
        verified,
        specs,
        backend=backend,
        scenarios=scenarios or (),
        worlds=worlds or (),
        attempts=attempts,
        seeds=seeds or (0,),
    )
    if executor == "local" and workers is not None:
        raise AuthorError("--workers is for the ray executor; local plays in this process")
    with progress("episodes", quiet=quiet) as advance:
        summary = play_plan(
            resolved,
            verified,
            specs,
            find_backend(backend),
            out,
            local=executor == "local",
            workers=workers,
            retries=retries,
            advance=advance,
        )
    if as_json_document:
        emit({"run": str(out), "planned": summary.planned, "done": summary.done, "resumed": summary.resumed,
              "retried": summary.retried, "errored": summary.errored, "unsupported": summary.unsupported,
              "interrupted": summary.interrupted})  # fmt: skip
    else:
        kept = f", {summary.resumed} of them from before" if summary.resumed else ""
        say(f"{summary.done} of {summary.planned} trials are in {out}{kept}")
        if summary.errored:
            say(
                f"{summary.errored} stayed Errored (the infrastructure, not the agents); they stay in every denominator"
            )
        if summary.interrupted:
            say("interrupted; the same command goes on from here")
        else:
            ready, playing = summary.seconds
            say(f"took {playing:.1f} s, and {ready:.1f} s to get ready; next: breakfix report {out}")
    if summary.interrupted:
        return 130
    return 2 if summary.errored else 0
