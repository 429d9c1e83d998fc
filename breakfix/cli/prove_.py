"""breakfix prove: do the graders discriminate?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from breakfix.cli.bundles import is_compiled, own_bundle
from breakfix.cli.options import BackendName, Inventory, Json, Owned, Quiet, backend_on
from breakfix.cli.output import emit, say
from breakfix.cli.proving import as_document, prove_with_progress, show_proof
from compiler.bundle import write_proof
from compiler.verify import verify_under_ephemeral_key


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
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Show what passed too.")] = False,
    quiet: Quiet = False,
    as_json_document: Json = False,
) -> int:
    """Prove that a pack's graders discriminate, before it may be signed. Exit code 1 when anything fails.

    The unbroken system is healthy, faults are witnessed, doing nothing earns nothing, gold passes the whole gate, bad
    habits are not VERIFIED, twins and controls refuse some of them, every weakened form of gold (a step left out, a
    wrong argument, the wrong service, a restart instead) is noticed, revert restores. `--verbose` says which step earns
    which objective, who noticed what, and how often repeats agree. The proof is written beside a compiled bundle, for
    `breakfix sign`.

    Examples:

        breakfix prove packs/starter

        breakfix prove build/starter --repeats 3 --verbose
    """
    compiled = own_bundle(bundle)
    proof = prove_with_progress(
        verify_under_ephemeral_key(compiled),
        backend_on(backend, inventory, owned=owned),
        scenarios=scenarios or (),
        repeats=repeats,
        processes=workers if inventory is None else 1,  # a host is one process's
        quiet=quiet,
    )
    if as_json_document:
        emit(as_document(proof))
    else:
        show_proof(proof, verbose=verbose)
    if is_compiled(Path(bundle)) and not scenarios:
        write_proof(Path(bundle), proof)
        if not as_json_document and proof.holds:
            say(f"the proof is beside the bundle; next: breakfix sign {bundle} --key YOUR.key")
    return 0 if proof.holds else 1
