"""breakfix prove: do the graders discriminate?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from breakfix.cli.bundles import is_compiled, own_bundle
from breakfix.cli.options import BackendName, Inventory, Json, Owned, Quiet, backend_on
from breakfix.cli.output import emit, say
from breakfix.cli.proving import as_document, prove_with_progress, show_proof
from compiler.bundle import write_proof
from compiler.model import PackContent
from compiler.verify import verify_under_ephemeral_key
from runners.prove.keeping import Kept
from runners.worlds import Backend


def command(
    bundle: Annotated[str, typer.Argument(help="A compiled bundle, a pack's folder, or the name of a shipped pack.")],
    scenarios: Annotated[
        list[str] | None, typer.Option("--scenario", "-s", help="Only these; no proof is written then.")
    ] = None,
    repeats: Annotated[int, typer.Option("--repeats", "-k", min=1, help="How often each run is repeated.")] = 2,
    workers: Annotated[
        int | None, typer.Option("--workers", "-j", min=1, help="Processes; default: every CPU.")
    ] = None,
    backend: BackendName = "sim",
    inventory: Inventory = None,
    owned: Owned = False,
    supported: Annotated[
        bool,
        typer.Option("--supported", help="Only what this backend can run; the rest is named; no proof is written."),
    ] = False,
    keep: Annotated[
        Path | None,
        typer.Option(
            "--keep", metavar="FOLDER", help="Keep each scenario's proof there once it holds, and go on from there."
        ),
    ] = None,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Show what passed too.")] = False,
    quiet: Quiet = False,
    as_json_document: Json = False,
) -> int:
    """Prove that a pack's graders discriminate, before it may be signed. Exit code 1 when anything fails.

    The unbroken system is healthy, faults are witnessed, doing nothing earns nothing, gold passes the whole gate, bad
    habits are not VERIFIED, twins and controls refuse some of them, every weakened form of gold (a step left out, a
    wrong argument, the wrong service, a restart instead) is noticed, revert restores. `--verbose` says which step earns
    which objective, who noticed what, and how often repeats agree. The proof is written beside a compiled bundle, for
    `breakfix sign`. With `--keep` a long one may be stopped: it goes on with what is not proven yet. What is kept is
    proven anew only where the scenario, its system, its image or breakfix itself is another one.

    Examples:

        breakfix prove packs/starter

        breakfix prove build/starter --repeats 3 --verbose

        breakfix prove packs/starter --backend container --supported --keep build/proofs
    """
    verified = verify_under_ephemeral_key(own_bundle(bundle))
    where, chosen = backend_on(backend, inventory, owned=owned), scenarios or None
    left_out = _unsupported(verified.content, chosen, where) if supported else {}
    if left_out:
        chosen = [name for name in chosen or verified.content.scenarios if name not in left_out]
    proof = prove_with_progress(
        verified,
        where,
        scenarios=chosen,
        repeats=repeats,
        processes=workers if inventory is None else 1,  # a host is one process's
        quiet=quiet,
        kept=None if keep is None else Kept(keep),
    )
    if as_json_document:
        emit({**as_document(proof), **({"unsupported": left_out} if supported else {})})
    else:
        show_proof(proof, verbose=verbose)
        for name, reason in left_out.items():
            say(f"{name}: left out, {where.name} cannot run it: {reason}")
    if is_compiled(Path(bundle)) and not scenarios and not supported:
        write_proof(Path(bundle), proof)
        if not as_json_document and proof.holds:
            say(f"the proof is beside the bundle; next: breakfix sign {bundle} --key YOUR.key")
    return 0 if proof.holds or (left_out and not chosen) else 1


def _unsupported(content: PackContent, chosen: Sequence[str] | None, backend: Backend) -> dict[str, str]:
    """Why the backend cannot run each of the chosen scenarios (None: of all) that it cannot run."""
    scenarios = (one for name, one in content.scenarios.items() if chosen is None or name in chosen)
    reasons = {one.name: backend.unsupported(content, one) for one in scenarios}
    return {name: reason for name, reason in reasons.items() if reason is not None}
