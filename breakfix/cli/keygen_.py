"""breakfix keygen: a key pair for signing."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from breakfix.cli.options import Json
from breakfix.cli.output import emit, say
from compiler.keys import generate, key_id, load_public
from compiler.trust import add_key, default_folder


def command(
    private: Annotated[Path, typer.Argument(help="Where the private key goes; `.pub` is added for the public one.")],
    trust: Annotated[
        bool, typer.Option("--trust-it", help="Also put the public key into your own trust store.")
    ] = False,
    as_json_document: Json = False,
) -> int:
    """Make an Ed25519 key pair for signing. Existing files are never overwritten.

    Examples:

        breakfix keygen ~/.config/breakfix/me.key --trust-it
    """
    public = generate(private)
    stored = add_key(default_folder(os.environ, Path.home()), public) if trust else None
    identifier = key_id(load_public(public))
    if as_json_document:
        emit({"private": str(private), "public": str(public), "key_id": identifier, "trusted": stored is not None})
    else:
        say(f"private key {private} (keep it to yourself)")
        say(f"public key  {public}, id {identifier}")
        if stored is not None:
            say(f"trusted as  {stored}")
    return 0
