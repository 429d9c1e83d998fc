"""breakfix sign: an author's word for a bundle and its proof."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from breakfix.cli.options import Json
from breakfix.cli.output import emit, say
from compiler.bundle import write_envelope
from compiler.keys import load_private
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

    A bundle that was not proven is refused, unless you say `--unproven`.

    Examples:

        breakfix sign build/starter --key me.key
    """
    compiled = read_unsigned(bundle)
    proof = read_proof_of(bundle)
    if proof is None and not unproven:
        raise AuthorError(f"{bundle} has no proof: run `breakfix prove {bundle}` first, or sign it with --unproven")
    write_envelope(bundle, sign(compiled, load_private(key), proof))
    if as_json_document:
        emit({"bundle": str(bundle), "digest": compiled.digest, "proven": proof is not None})
    else:
        say(f"signed {compiled.name} {compiled.version}, digest {compiled.digest}{'' if proof else ', UNPROVEN'}")
    return 0
