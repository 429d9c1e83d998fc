"""Switching the machine off and on again."""

from __future__ import annotations

from runners.sim.lifecycle import deliver
from runners.sim.machine import Machine
from runners.sim.network.described import attach, kernel_settings
from runners.sim.network.firewall import restore
from runners.sim.systemctl.lists import wants_links
from runners.sim.systemd import manager
from runners.sim.systemd.journal import kernel, log
from runners.system import texts

_SHUTDOWN_SECONDS = 6.0
_BOOT_SECONDS = 24.0


def reboot(machine: Machine) -> None:
    """End all services, let the time of a reboot pass, and start what is enabled.

    What lived in memory is gone: /run and other tmpfs files of a boot stay as the services recreate them.
    """
    _down(machine, "reboot")
    machine.advance(_SHUTDOWN_SECONDS)
    machine.clock.boot = machine.clock.now
    _forget(machine)
    kernel(machine, machine.view().text("/proc/version").strip())
    machine.advance(_BOOT_SECONDS)
    log(machine, "systemd", f"Hostname set to <{machine.spec.hostname}>.", pid=1)
    manager.daemon_reload(machine)
    for name in _boot_order(machine):
        try:
            manager.start(machine, name)
        except manager.UnitError:
            continue
    log(machine, "systemd", "Startup finished in 1.912s (kernel) + 6.105s (userspace) = 8.017s.", pid=1)


def _forget(machine: Machine) -> None:
    """Addresses, routes and the packet filter's rules live in memory: a boot makes them what is saved or described."""
    attach(machine)
    view = machine.view()
    saved = "/etc/iptables/rules.v4"
    lines = view.text(saved).splitlines() if view.exists(saved) else texts(machine.spec.settings.get("firewall"))
    machine.network.tables = restore(lines)
    machine.network.sysctl = kernel_settings(machine.spec)
    for path in _sysctl_files(machine):
        for line in view.text(path).splitlines():
            key, equals, value = line.partition("=")
            if equals and key.strip() in machine.network.sysctl:
                machine.network.sysctl = {**machine.network.sysctl, key.strip(): value.strip()}
    for mount in machine.files.mounts:
        if mount.fstype == "tmpfs":
            _empty(machine, mount.path, whole=not mount.path.startswith("/run"))
    _empty(machine, "/tmp", whole=True)  # noqa: S108 (tmpfiles.d empties it at each boot)


def _sysctl_files(machine: Machine) -> list[str]:
    """The files that set kernel values at a boot, in the order they are read."""
    view = machine.view()
    folder = "/etc/sysctl.d"
    names = sorted(view.names(folder)) if view.exists(folder) else []
    found = [f"{folder}/{name}" for name in names if name.endswith(".conf")]
    return [path for path in (*found, "/etc/sysctl.conf") if view.exists(path)]


def _empty(machine: Machine, path: str, *, whole: bool) -> None:
    """Take the files below a folder away, and with `whole` its folders too."""
    view = machine.view()
    try:
        names = view.names(path)
    except OSError:
        return
    for name in names:
        inner = f"{path.rstrip('/')}/{name}"
        inode = view.stat(inner, follow=False)
        try:
            if inode.is_dir:
                _empty(machine, inner, whole=whole)
                if whole:
                    view.rmdir(inner)
            elif inode.is_file:
                view.unlink(inner)
        except OSError:
            continue


def power_event(machine: Machine, argument: object) -> None:
    """Handler: a shutdown that was scheduled is due; the argument is `reboot` or `poweroff`."""
    (reboot if argument == "reboot" else power_off)(machine)


def power_off(machine: Machine) -> None:
    """End all services. A powered-off server does not answer: everything but init is gone."""
    _down(machine, "poweroff")


def _down(machine: Machine, verb: str) -> None:
    log(machine, "systemd-logind", f"The system will {verb} now!", pid=0)
    log(machine, "systemd", f"Reached target {verb}.target.", pid=1)
    for name in reversed(manager.known(machine)):
        if name.endswith((".service", ".timer", ".socket")) and machine.systemd.get(name).active in (
            "active",
            "activating",
        ):
            manager.stop(machine, name)
    manager.reset_failed(machine)
    for process in list(machine.processes):
        if process.unit is not None and machine.processes.get(process.pid) is not None:
            deliver(machine, process, 9)


def _boot_order(machine: Machine) -> list[str]:
    """What the default target pulls in: enabled units, those that others come after first."""
    names = [
        name for target in ("sysinit.target", "basic.target", "timers.target", "multi-user.target", "graphical.target")
        for name in wants_links(machine, target)
        if name.endswith((".service", ".timer", ".socket"))
    ]  # fmt: skip
    names = list(dict.fromkeys(names))
    ordered: list[str] = []
    while names:
        ready = [
            name
            for name in names
            if not any(
                other in names and other != name for other in manager.unit_file(machine, name).words("Unit", "After")
            )
        ] or names[:1]
        ordered += ready
        names = [name for name in names if name not in ready]
    return ordered
