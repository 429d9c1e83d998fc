"""breakfix verify: is this bundle what somebody you trust signed?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from breakfix.cli.options import Json, TrustKey, trusted
from breakfix.cli.output import emit, say
from compiler.verify import verify


def command(
    bundle: Annotated[Path, typer.Argument(help="A bundle's folder, or its tar with the envelope beside it.")],
    trust: TrustKey = None,
    as_json_document: Json = False,
) -> int:
    """Verify a signed bundle against the keys you trust. Exit code 1 when any byte is not as it was signed.

    Examples:

        breakfix verify build/starter --trust me.key.pub
    """
    verified = verify(bundle, trusted(trust))
    if as_json_document:
        emit(
            {
                "pack": verified.name,
                "version": verified.version,
                "digest": verified.digest,
                "key_id": verified.key_id,
                "proven": verified.proven,
            }
        )
    else:
        proven = "proven" if verified.proven else "UNPROVEN"
        say(f"{verified.name} {verified.version} is as signed by key {verified.key_id[:16]}, {proven}")
        say(f"digest {verified.digest}")
    return 0
