"""Options that several commands share, and what they stand for."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from compiler.trust import Trust, default_folder, load_trust, trust_only
from runners.backends.registry import find_backend, find_on
from runners.worlds import Backend
from scenario_dsl.errors import AuthorError

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

Inventory = Annotated[
    Path | None,
    typer.Option(
        "--inventory", metavar="FILE", help="With --backend kernel: hosts of your own, as Ansible names them."
    ),
]
Owned = Annotated[
    bool, typer.Option("--i-own-these-hosts", help="What --inventory names may be set up, loaded and starved.")
]


def backend_on(name: str, inventory: Path | None, *, owned: bool) -> Backend:
    """A backend, on the hosts of an inventory where one is given. Raises AuthorError, HostError."""
    if inventory is None:
        return find_backend(name)
    if name != "kernel":
        raise AuthorError(f"--inventory is for --backend kernel, not for {name}")
    if not owned:
        raise AuthorError(
            f"the hosts of {inventory} get users, programs and schedulers that starve others: say --i-own-these-hosts"
        )
    return find_on(inventory)


def trusted(given: Path | None) -> Trust:
    """The keys to trust: those given on the command line, or the user's own store."""
    if given is None:
        return load_trust(default_folder(os.environ, Path.home()))
    return load_trust(given) if given.is_dir() else trust_only(given)
