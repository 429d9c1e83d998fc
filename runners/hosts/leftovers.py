"""What earlier processes left in the engine: containers of ours whose process is gone."""

from __future__ import annotations

from runners.hosts.engine import Engine, is_alive


def sweep(engine: Engine, *, everything: bool = False) -> tuple[str, ...]:
    """Remove the containers of dead processes (everything: of living ones too). Returns their ids."""
    removed = []
    for container, owner in engine.ours():
        if everything or not is_alive(owner):
            engine.remove(container)
            removed.append(container)
    return tuple(removed)
