"""breakfix receipt: what a receipt says, and whether it holds."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from breakfix.cli.options import Json, TrustKey, trusted
from breakfix.cli.output import emit, say
from compiler.codec import plain
from compiler.keys import load_private
from compiler.reading import read_file
from compiler.receipts import RECEIPT, Receipt, read_receipt, sign_receipt, verify_receipt
from compiler.verify import verify as verify_bundle
from runners.attempt.folder import begin, read_outputs, write_receipt
from runners.attempt.issuing import issue as issue_for
from runners.backends.registry import find_backend
from runners.store import find_record

group = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="""Read a receipt, or verify it offline: signature, evidence, and the verdict recomputed from its facts.

Examples:

    breakfix receipt show try/receipt.dsse.json

    breakfix receipt verify try/receipt.dsse.json --trust me.key.pub

    breakfix receipt issue runs/first 3f2a --bundle build/starter --trust me.key.pub --key me.key --out receipts/3f2a
""",
)


@group.command()
def issue(
    run: Annotated[Path, typer.Argument(help="A run folder.")],
    trial: Annotated[str, typer.Argument(help="The id of a primary's trial, or its first characters.")],
    bundle: Annotated[Path, typer.Option("--bundle", "-b", help="The signed bundle that the run used.")],
    key: Annotated[Path, typer.Option("--key", "-k", help="Your private key: it signs the receipt.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="A new folder for the receipt and its outputs.")],
    trust: TrustKey = None,
) -> int:
    """Issue the receipt of a recorded trial whose agent handed in a document that is VERIFIED.

    The record is played again first, and is refused where it is not what it says.
    """
    begin(out)
    private = load_private(key)
    record = find_record(run, trial)
    issued = issue_for(record, verify_bundle(bundle, trusted(trust)), find_backend(record.trial.backend))
    write_receipt(out, sign_receipt(issued.receipt, private), issued.outputs)
    say(f"{issued.receipt.verdict} by {issued.receipt.agent}: {out / RECEIPT}")
    return 0


File = Annotated[Path, typer.Argument(help="The receipt; its outputs lie beside it in the folder `evidence`.")]


@group.command("show")
def show(receipt: File, as_json_document: Json = False) -> int:
    """Say what a receipt claims. Nothing is verified."""
    said, sealed = read_receipt(read_file(receipt), file=str(receipt))
    if as_json_document:
        emit({"key_id": sealed.key_id, "computed": said.computed, "receipt": plain(said)})
        return 0
    _show(said)
    say(f"its facts give: {said.computed}. Signed by key {sealed.key_id[:16]}, which was not checked: use `verify`")
    return 0


@group.command()
def verify(receipt: File, trust: TrustKey = None, as_json_document: Json = False) -> int:
    """Verify a receipt against the keys you trust. Exit code 1 for anything but VERIFIED, whoever signed it."""
    outputs = read_outputs(receipt.parent)
    said = verify_receipt(read_file(receipt), trusted(trust), outputs, file=str(receipt))
    if as_json_document:
        emit({"verified": True, "receipt": plain(said)})
        return 0
    _show(said)
    say(f"verified: the signature, {len(said.evidence) + len(said.applied)} outputs, and the verdict from the facts")
    return 0


def _show(receipt: Receipt) -> None:
    proven = (
        "UNPROVEN bundle" if not receipt.proven else f"{receipt.waived} mutants waived" if receipt.waived else "proven"
    )
    say(f"{receipt.verdict}: {receipt.pack} {receipt.pack_version}, {receipt.scenario} ({proven}), {receipt.mode}")
    say(f"bundle {receipt.bundle_digest}")
    environment = receipt.environment
    say(f"on {environment.backend}, {environment.system}, seed {environment.seed}: {environment.fingerprint}")
    helped = (
        f", helped by {receipt.model}: {receipt.help or 'it is not said how'}" if receipt.model else ", no model helped"
    )
    say(f"by {receipt.agent}{helped}")
    say(f"hypothesis: {receipt.intervention.hypothesis}")
    for ref in receipt.evidence:
        cited = "cited" if ref.id in receipt.intervention.evidence else "seen"
        say(f"  {cited:<6} {ref.id[:16]} at {ref.at:g} s: $ {ref.command}")
    for ref in receipt.applied:
        say(f"  done   {ref.id[:16]} at {ref.at:g} s: $ {ref.command}")
    for change in receipt.changes:
        say(f"  changed {change.what}")
    for command in receipt.rollback:
        say(f"  rollback: $ {command}")
    for fact in receipt.facts:
        say(f"  {fact.check} in {fact.world}, by {fact.means}: {fact.finding}: {fact.reason}")
