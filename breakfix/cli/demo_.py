"""breakfix demo: the whole line once, in one command."""

from __future__ import annotations

import shutil
import time
from pathlib import Path
from typing import Annotated

import typer

from breakfix.cli.leaderboard import show_leaderboard
from breakfix.cli.options import Quiet
from breakfix.cli.output import progress, say
from breakfix.cli.proving import prove_with_progress, show_proof
from breakfix.cli.running import play_plan
from breakfix.content import open_pack
from breakfix.reporting import backgrounds
from compiler.bundle import compile_pack, write_bundle, write_envelope, write_proof
from compiler.keys import generate, load_private
from compiler.signing import sign
from compiler.trust import trust_only
from compiler.verify import verify, verify_under_ephemeral_key
from reports.build import build_report
from runners.agents.registry import parse_agent
from runners.backends.registry import find_backend
from runners.plan import plan
from scenario_dsl.errors import AuthorError

_AGENTS = ("gold", "bad", "bad:restart everything", "random", "nop")
_PLAYED = ("log-analysis", "process-recovery", "cascading-database-failure")
"""One easy, one hard, one expert: enough to see what the gate tells apart, and quick. All are proven."""
_OURS = ("bundle", "keys", "run", "report")


def command(
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Where everything goes; an earlier demo there is replaced.")
    ] = Path("build/demo"),
    attempts: Annotated[
        int, typer.Option("--attempts", "-n", min=1, help="Attempts of each agent in each world.")
    ] = 20,
    everything: Annotated[
        bool, typer.Option("--all", help="Play all scenarios of the pack, not three of them.")
    ] = False,
    quiet: Quiet = False,
) -> int:
    """The whole line once: check, compile, prove, sign, verify, run five agents and report the starter pack.

    All scenarios are proven; three of them are played.

    Examples:

        breakfix demo --out build/demo
    """
    begun = time.perf_counter()
    _clear(out)
    library = open_pack("packs/starter")
    bundle = compile_pack(library)
    folder = out / "bundle"
    write_bundle(bundle, folder)
    say(f"compiled  {bundle.name} {bundle.version}: {len(library.scenarios)} scenarios into {folder}")

    proof = prove_with_progress(verify_under_ephemeral_key(bundle), find_backend("sim"), repeats=2, quiet=quiet)
    if not proof.holds:
        show_proof(proof, verbose=False)
        return 1
    write_proof(folder, proof)
    say(f"proven    {sum(len(scenario.findings) for scenario in proof.scenarios)} findings, all of them hold")

    public = generate(out / "keys" / "demo.key")
    write_envelope(folder, sign(bundle, load_private(out / "keys" / "demo.key"), proof))
    verified = verify(folder, trust_only(public))
    say(f"signed    with {public}, and verified: digest {verified.digest[:16]}")

    agents = [parse_agent(name) for name in _AGENTS]
    resolved = plan([verified], agents, backends=("sim",), scenarios=() if everything else _PLAYED, attempts=attempts)
    with progress("episodes", quiet=quiet) as advance:
        summary = play_plan(
            resolved, [verified], agents, find_backend("sim"), out / "run", local=False, workers=None, advance=advance
        )
    if summary.interrupted:
        say(f"interrupted; `breakfix demo` starts anew, and {out} keeps what there is")
        return 130
    say(f"run       {summary.done} episodes of {len(agents)} agents in {summary.seconds[1]:.1f} s")

    files = build_report([out / "run"], out / "report", backgrounds=backgrounds(verified))
    say("")
    show_leaderboard(files.leaderboard)
    say("")
    say(files.headline)
    say(f"took {time.perf_counter() - begun:.1f} s. Leaderboard page: {files.page}")
    return 0


def _clear(out: Path) -> None:
    """Remove an earlier demo; refuse a folder that holds anything else."""
    if not out.exists():
        return
    strangers = [entry.name for entry in out.iterdir() if entry.name not in _OURS] if out.is_dir() else [out.name]
    if strangers:
        raise AuthorError(f"{out} holds {strangers[0]!r}, which no demo made; choose another folder with --out")
    for name in _OURS:
        shutil.rmtree(out / name, ignore_errors=True)
