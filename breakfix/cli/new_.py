"""breakfix new: a small pack to begin with."""

from __future__ import annotations

import re
import uuid
from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer

from breakfix.cli.output import say
from scenario_dsl.errors import AuthorError

_NAME = re.compile(r"(?!(?:true|false|null)$)[a-z][a-z0-9-]{0,63}")
"""A narrower rule than the language's: nothing that YAML would read as a number or another word."""


def command(
    folder: Annotated[Path, typer.Argument(metavar="PACK_FOLDER", help="The pack's folder; its name is the pack's.")],
    scenario: Annotated[str, typer.Option("--scenario", "-s", help="The scenario's name.")] = "unreadable-secret",
) -> int:
    """Write a small pack with one scenario that already proves, to be changed into yours.

    In a folder that is a pack already, only the scenario is added. Nothing is ever overwritten.

    Examples:

        breakfix new mine

        breakfix new mine --scenario certificate-forgotten
    """
    pack = folder.resolve().name
    _check_name("pack", pack)
    _check_name("scenario", scenario)
    pack_file = folder / "pack.yml"
    scenario_file = folder / "scenarios" / f"{scenario}.yml"
    if scenario_file.exists():
        raise AuthorError(f"{scenario_file} exists already; name another scenario with --scenario")
    try:
        scenario_file.parent.mkdir(parents=True, exist_ok=True)
        if not pack_file.exists():
            canary = f"breakfix-canary-{uuid.uuid4()}"
            _write(pack_file, _template("pack.yml").replace("@PACK@", pack).replace("@CANARY@", canary))
        _write(scenario_file, _template("scenario.yml").replace("@SCENARIO@", scenario))
    except OSError as error:
        raise AuthorError(f"cannot write {error.filename}: {error.strerror}") from error
    say("next:")
    say(f"  breakfix play {scenario_file}   # how it feels to be on call")
    say(f"  breakfix check {folder}   # after every change: what is wrong, and where")
    say(f"  breakfix prove {folder}   # what its graders can tell apart")
    return 0


def _check_name(what: str, name: str) -> None:
    if not _NAME.fullmatch(name):
        raise AuthorError(f"`{name}` is no name for a {what}: small letters, digits and hyphens, a letter first")


def _template(name: str) -> str:
    return (files("breakfix") / "templates" / name).read_text(encoding="utf-8")


def _write(path: Path, text: str) -> None:
    """Write a new file and say so; raises FileExistsError where there is one."""
    with path.open("x", encoding="utf-8") as stream:
        stream.write(text)
    say(f"wrote {path}")
