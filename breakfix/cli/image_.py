"""breakfix image: the images that containers start from."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from breakfix.cli.options import Json, Quiet
from breakfix.cli.output import emit, say
from breakfix.content import find_system
from runners.hosts import images
from runners.hosts.engine import Engine
from scenario_dsl.errors import AuthorError


def command(
    action: Annotated[Literal["build", "ls"], typer.Argument(help="build: make what is missing. ls: what is there.")],
    system: Annotated[str | None, typer.Argument(help="The system, as `breakfix play --system` names it.")] = None,
    anew: Annotated[
        bool, typer.Option("--anew", help="Fetch the packages again: the archive may have moved on.")
    ] = False,
    quiet: Quiet = False,
    as_json_document: Json = False,
) -> int:
    """Make a system's image from Debian packages and its description, or list the images that are there.

    The image's id follows from the packages and the description alone. Packages are kept in ~/.cache/breakfix, or in
    $BREAKFIX_CACHE; a first build takes about two minutes. Needs root, mmdebstrap and a container engine.

    Examples:

        breakfix image build web-server

        breakfix image ls
    """
    engine = Engine.connect()
    if action == "ls":
        _list(engine, as_json_document)
        return 0
    if system is None:
        raise AuthorError("which system? Try: breakfix image build web-server")
    silent = quiet or as_json_document
    image = images.build(engine, find_system(system), _silent if silent else say, anew=anew)
    if as_json_document:
        emit({"system": image.system, "id": image.id, "settled": image.settled, "packages": list(image.packages)})
    else:
        say(f"image   {image.id}")
        say(f"settled {image.settled}, {len(image.packages)} packages; next: breakfix prove … --backend container")
    return 0


def _list(engine: Engine, as_json_document: bool) -> None:
    rows = [{"name": name, "id": identity, "bytes": size} for name, identity, size in engine.images()]
    if as_json_document:
        emit({"images": rows})
    elif not rows:
        say("there is none; next: breakfix image build web-server")
    for row in () if as_json_document else rows:
        say(f"{row['name']}  {str(row['id'])[7:19]}  {int(str(row['bytes'])) >> 20} MiB")


def _silent(text: str) -> None:
    """Says nothing."""
