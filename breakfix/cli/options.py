"""Options that several commands share, and what they stand for."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from compiler.trust import Trust, default_folder, load_trust, trust_only

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of text.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress display.")]
TrustKey = Annotated[
    Path | None,
    typer.Option(
        "--trust",
        metavar="KEY.pub",
        help="Trust this key, or each in this folder. Default: $BREAKFIX_TRUSTED or ~/.config/breakfix/trusted.",
    ),
]
BackendName = Annotated[
    str, typer.Option("--backend", help="What worlds are made of; `breakfix capabilities` lists them.")
]


def trusted(given: Path | None) -> Trust:
    """The keys to trust: those given on the command line, or the user's own store."""
    if given is None:
        return load_trust(default_folder(os.environ, Path.home()))
    return load_trust(given) if given.is_dir() else trust_only(given)
