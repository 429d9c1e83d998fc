"""Socket activation: what arrives at a listening socket starts the service behind it."""

from __future__ import annotations

from runners.sim.machine import Machine
from runners.sim.systemd import control, manager
from runners.sim.systemd.manager import UnitError


def arrived(machine: Machine, argument: object) -> None:
    """Handler: something came to the socket of that name. A service that cannot take it has the socket closed.

    While it is at it, the socket is not listening: what the start itself logs would come to it again.
    """
    name = str(argument)
    socket = machine.systemd.get(name)
    behind = manager.unit_file(machine, name).get("Socket", "Service") or name.replace(".socket", ".service")
    if manager.state_of(machine, behind).active not in ("inactive", "failed"):
        return
    machine.systemd.put(socket._replace(sub="running"))
    result = ""
    try:
        manager.start(machine, behind)
    except UnitError as error:
        result = "resources"
        manager.report_refusal(machine, manager.unit_file(machine, name), error)
    if manager.state_of(machine, behind).active == "failed":
        result = "service-start-limit-hit"
    if result:
        control.say(machine, manager.unit_file(machine, name), f"{name}: Failed with result '{result}'.", priority=4)
        socket = socket._replace(active="failed", sub="failed", result=result, changed=machine.clock.now)
    machine.systemd.put(socket)
