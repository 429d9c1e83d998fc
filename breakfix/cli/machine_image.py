"""The part of `breakfix image` that is about virtual machines: no container engine is asked."""

from __future__ import annotations

from breakfix.cli.output import emit, say
from runners.kernel import image as images
from scenario_dsl.errors import AuthorError
from scenario_dsl.model import System


def is_machine(system: System) -> bool:
    return "kernel" in system.settings


def build(system: System, *, anew: bool, silent: bool, as_json_document: bool) -> int:
    """Make a virtual machine's image. Raises HostError."""
    image = images.build(system, _silent if silent else say, anew=anew)
    if as_json_document:
        emit(
            {
                "system": image.system,
                "id": image.id,
                "kernel": image.release,
                "objects": image.objects,
                "packages": list(image.packages),
            }
        )
    else:
        say(f"image   {image.id}")
        say(f"kernel  {image.release}, {len(image.packages)} packages; next: breakfix prove … --backend kernel")
    return 0


def refuse_to_lock(system: System) -> int:
    raise AuthorError(f"{system.name} is a virtual machine: a proof names its image, and there is no lock beside it")


def rows() -> list[dict[str, object]]:
    """The images that are here, as `breakfix image ls` shows them."""
    return [{"name": f"vm/{name}", "id": identity, "bytes": size} for name, identity, size in images.built()]


def _silent(text: str) -> None:
    """Says nothing."""
