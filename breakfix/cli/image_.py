"""breakfix image: the images that containers and virtual machines start from."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from breakfix.cli import machine_image
from breakfix.cli.options import Json, Quiet
from breakfix.cli.output import emit, say
from breakfix.content import find_system, system_folder
from runners.hosts import images
from runners.hosts.engine import Engine
from runners.hosts.lock import LOCK, drifted, read_lock, write_lock
from scenario_dsl.errors import AuthorError, HostError


def command(
    action: Annotated[
        Literal["build", "lock", "ls"],
        typer.Argument(help="build: make what is missing. lock: what has drifted. ls: what is there."),
    ],
    system: Annotated[str | None, typer.Argument(help="The system, as `breakfix play --system` names it.")] = None,
    anew: Annotated[
        bool, typer.Option("--anew", help="Fetch the packages again: the archive may have moved on.")
    ] = False,
    update: Annotated[
        bool, typer.Option("--update", help="lock: write down the packages of the image that is there.")
    ] = False,
    quiet: Quiet = False,
    as_json_document: Json = False,
) -> int:
    """Make a system's image from Debian packages and its description, list the images that are there, or lock one.

    The image's id follows from the packages and the description alone. Packages are kept in ~/.cache/breakfix, or in
    $BREAKFIX_CACHE; a first build takes about two minutes. Of a fleet, those of all its machines are made. Needs root,
    mmdebstrap and a container engine.

    `lock` names the packages whose versions are others than those in the system's `image.lock`, with exit code 1;
    `--update` writes them down. A proof names the image that it was made on, and runs of it take no other.

    Examples:

        breakfix image build web-server

        breakfix image lock web-server --update

        breakfix image ls
    """
    silent = quiet or as_json_document
    if action == "ls":
        _list(as_json_document)
        return 0
    if system is None:
        raise AuthorError("which system? Try: breakfix image build web-server")
    if machine_image.is_machine(machine := find_system(system)):
        if action == "lock":
            return machine_image.refuse_to_lock(machine)
        return machine_image.build(machine, anew=anew, silent=silent, as_json_document=as_json_document)
    engine = Engine.connect()
    if update and action != "lock":
        raise AuthorError("--update is for `breakfix image lock`")
    described = find_system(system)
    for kind in dict.fromkeys(node.system for node in described.nodes.values()):
        images.build(engine, find_system(kind), _silent if silent else say)
    image = images.build(engine, described, _silent if silent else say, anew=anew)
    if action == "lock":
        return _lock(image, system_folder(system) / LOCK, update=update, as_json_document=as_json_document)
    if as_json_document:
        emit({"system": image.system, "id": image.id, "settled": image.settled, "packages": list(image.packages)})
    else:
        say(f"image   {image.id}")
        say(f"settled {image.settled}, {len(image.packages)} packages; next: breakfix prove … --backend container")
    return 0


def _lock(image: images.Image, file: Path, *, update: bool, as_json_document: bool) -> int:
    locked, packages = read_lock(file)
    changed = tuple(drifted(packages, image.packages)) if locked else ()
    if update:
        write_lock(file, image.id, image.packages)
    if as_json_document:
        emit({"locked": locked, "image": image.id, "drifted": [drift._asdict() for drift in changed]})
    else:
        for drift in changed:
            say(str(drift))
        if update:
            say(f"locked {image.id} with {len(image.packages)} packages in {file}")
        elif not locked:
            say(f"there is no lock; next: breakfix image lock {image.system} --update")
        elif locked != image.id:
            say(f"locked is {locked}, here is {image.id}; next: prove again, and lock with --update")
        else:
            say(f"nothing drifted from {locked}")
    return 0 if update or locked == image.id else 1


def _list(as_json_document: bool) -> None:
    rows = machine_image.rows()
    try:
        found = Engine.connect().images()
        rows += [{"name": name, "id": identity, "bytes": size} for name, identity, size in found]
    except HostError:
        # Virtual machines need no engine.
        if not rows:
            raise
    if as_json_document:
        emit({"images": rows})
    elif not rows:
        say("there is none; next: breakfix image build web-server")
    for row in () if as_json_document else rows:
        say(f"{row['name']}  {str(row['id'])[7:19]}  {int(str(row['bytes'])) >> 20} MiB")


def _silent(text: str) -> None:
    """Says nothing."""
