"""What earlier processes left in the engine: containers of ours whose process is gone."""

from __future__ import annotations

from runners.here.owning import is_alive
from runners.here.owning import owner as this_process
from runners.hosts.engine import Engine


def sweep(engine: Engine, *, everything: bool = False) -> tuple[str, ...]:
    """Remove the containers of dead processes (everything: of living ones too). Returns their ids."""
    removed = []
    for container, owner in engine.ours():
        if everything or not is_alive(owner):
            engine.remove(container)
            removed.append(container)
    return tuple(removed)


def remove_own(engine: Engine) -> None:
    """Remove the containers of this process, whatever goes on in them."""
    for container, owner in engine.ours():
        if owner == this_process():
            engine.remove(container)
