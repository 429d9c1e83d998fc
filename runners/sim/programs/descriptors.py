"""What daemons do with descriptors: append to open logs, bind ports, keep pid files."""

from __future__ import annotations

import errno

from runners.sim.files.tree import fail
from runners.sim.lifecycle import open_file
from runners.sim.machine import Machine
from runners.sim.processes import OpenFile, Process, Socket


def current(machine: Machine, process: Process) -> Process:
    """The process's newest record."""
    return machine.processes.get(process.pid) or process


def append(machine: Machine, file: OpenFile, data: bytes) -> None:
    """Write at the end of an open file; OSError (ENOSPC) when there is no room for it."""
    tree = machine.files
    inode = tree.inodes.get(file.inode)
    if inode is None or not inode.is_file:
        return
    tree.put(inode.written(inode.content.append(data), tree.clock.now))


def write_line(machine: Machine, process: Process, path: str, line: str) -> OSError | None:
    """Append a line to the log that the process opened by that name. The error, if there was one."""
    for file in process.files:
        if file.path == path:
            try:
                append(machine, file, line.encode("utf-8", "surrogateescape") + b"\n")
            except OSError as error:
                return error
            return None
    return fail(errno.EBADF, path)


def open_log(machine: Machine, process: Process, path: str) -> OSError | None:
    """Open a log for appending, for good. The error, if it cannot be."""
    try:
        open_file(machine, process, path)
    except OSError as error:
        return error
    return None


def bind(
    machine: Machine, process: Process, address: str, port: int, *, protocol: str = "tcp", lowest_fd: int = 5
) -> OSError | None:
    """Bind and listen, on the first descriptor that is free from `lowest_fd` on. The error: EADDRINUSE, EADDRNOTAVAIL, or EACCES for a low port without the right."""
    process = current(machine, process)
    lowest = int(machine.network.sysctl.get("net.ipv4.ip_unprivileged_port_start", "1024"))
    if port < lowest and process.cred.uid != 0:
        return fail(errno.EACCES)
    wild = address in ("0.0.0.0", "*", "::")  # noqa: S104
    if not wild and machine.network.interface(address) is None:
        return fail(errno.EADDRNOTAVAIL)
    holder = machine.processes.listener(protocol, port, address)
    if holder is not None and holder.pid != process.pid:
        return fail(errno.EADDRINUSE)
    taken = {file.fd for file in process.files} | {socket.fd for socket in process.sockets}
    fd = next(number for number in range(lowest_fd, 65536) if number not in taken)
    state = "LISTEN" if protocol == "tcp" else ""
    socket = Socket(protocol, "0.0.0.0" if address == "*" else address, port, state, fd=fd)  # noqa: S104
    machine.processes.put(process._replace(sockets=(*process.sockets, socket)))
    return None


def listen_unix(machine: Machine, process: Process, path: str) -> None:
    process = current(machine, process)
    taken = {file.fd for file in process.files} | {socket.fd for socket in process.sockets}
    fd = next(number for number in range(5, 65536) if number not in taken)
    machine.processes.put(process._replace(sockets=(*process.sockets, Socket("unix", path=path, fd=fd))))


def hold(
    machine: Machine, process: Process, held: object, *, rss: int | None = None, share: float | None = None
) -> Process:
    """Keep `held` in the process's memory, and set what it takes of memory and of the processor."""
    now = current(machine, process)
    size = now.rss if rss is None else rss
    return machine.processes.put(
        now._replace(
            held=held,
            rss=size,
            vsz=max(now.vsz, size * 3),
            cpu_share=now.cpu_share if share is None else share,
        )
    )
