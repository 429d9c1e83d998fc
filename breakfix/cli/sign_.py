"""breakfix sign: an author's word for a bundle and its proof."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from breakfix.cli.options import Json
from breakfix.cli.output import emit, say
from compiler.bundle import remove_proof, write_envelope
from compiler.keys import load_private
from compiler.layout import PROOF
from compiler.signing import sign
from compiler.verify import read_proof_of, read_unsigned
from scenario_dsl.errors import AuthorError


def command(
    bundle: Annotated[Path, typer.Argument(help="The folder that `breakfix compile` wrote.")],
    key: Annotated[Path, typer.Option("--key", "-k", help="Your private key, as `breakfix keygen` made it.")],
    unproven: Annotated[
        bool, typer.Option("--unproven", help="Sign without a proof; every later report will say so.")
    ] = False,
    as_json_document: Json = False,
) -> int:
    """Sign a bundle together with its proof, in one DSSE envelope.

    A bundle that was not proven is refused, unless you say `--unproven`: then a proof that lies there is removed.

    Examples:

        breakfix sign build/starter --key me.key
    """
    compiled = read_unsigned(bundle)
    private = load_private(key)
    # A bundle that is signed as unproven must not carry a proof: verifying refuses one that no signature covers.
    proof = None if unproven else read_proof_of(bundle)
    if proof is None and not unproven:
        raise AuthorError(f"{bundle} has no proof: run `breakfix prove {bundle}` first, or sign it with --unproven")
    envelope = sign(compiled, private, proof)
    if unproven and remove_proof(bundle) and not as_json_document:
        say(f"removed {bundle / PROOF}: this bundle is signed without it")
    write_envelope(bundle, envelope)
    if as_json_document:
        emit({"bundle": str(bundle), "digest": compiled.digest, "proven": proof is not None})
    else:
        say(f"signed {compiled.name} {compiled.version}, digest {compiled.digest}{'' if proof else ', UNPROVEN'}")
    return 0
