"""breakfix compile: a pack to a bundle."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from breakfix.cli.options import Json
from breakfix.cli.output import emit, say
from breakfix.content import open_pack
from compiler.bundle import compile_pack, write_bundle


def command(
    pack: Annotated[str, typer.Argument(help="A pack's folder, or the name of a shipped pack.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder to write; an earlier bundle there is replaced.")],
    as_json_document: Json = False,
) -> int:
    """Compile a pack into a bundle: a folder and one reproducible tar.

    The same pack gives the same bytes on every machine. Nothing is written when anything is wrong.

    Examples:

        breakfix compile packs/starter --out build/starter
    """
    library = open_pack(pack)
    bundle = compile_pack(library)
    write_bundle(bundle, out)
    if as_json_document:
        emit({"pack": bundle.name, "version": bundle.version, "digest": bundle.digest, "out": str(out)})
    else:
        say(f"{bundle.name} {bundle.version}: {len(library.scenarios)} scenarios, {len(bundle.files)} files")
        say(f"digest {bundle.digest}")
        say(f"written to {out}; next: breakfix prove {out}")
    return 0
