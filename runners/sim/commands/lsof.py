"""lsof 4.95: open files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from runners.sim.block_devices import numbers
from runners.sim.commands.context import Context
from runners.sim.commands.lsof_query import Query, read_query
from runners.sim.files.inode import Inode
from runners.sim.kernelfs.process_files import descriptors, name_now
from runners.sim.libraries import LOADER, libraries
from runners.sim.process_info import is_kernel_thread
from runners.sim.processes import Process
from runners.sim.socket_table import Row, is_ipv6, rows, service_name
from runners.sim.users import accounts
from runners.text import is_digits

Devices = Mapping[int, str]
"""The number of a mount -> major and minor of its device."""


class _Entry(NamedTuple):
    """One line. `inode` None for what is no file here; `links` for +L."""

    process: Process
    fd: str
    type: str
    device: str
    size: str
    node: str
    name: str
    inode: int | None = None
    links: int | None = None
    row: Row | None = None


def main(ctx: Context) -> int:
    query = read_query(ctx)
    inodes, status = _named(ctx, query)
    entries = [entry for entry in _entries(ctx, query) if _wanted(ctx, query, entry, inodes)]
    if not entries:
        return 1
    if query.terse:
        for pid in dict.fromkeys(entry.process.pid for entry in entries):
            ctx.line(str(pid))
        return status
    if query.fields is not None:
        _print_fields(ctx, query, entries)
        return status
    _print(ctx, query, entries)
    return status


def _named(ctx: Context, query: Query) -> tuple[dict[int, str], int]:
    """The inodes of the paths asked for (a mount point stands for its whole file system)."""
    inodes: dict[int, str] = {}
    status = 0
    for name in query.names:
        try:
            inode = ctx.files.stat(name)
        except OSError as error:
            ctx.err(f"status error on {name}: {error.strerror}")
            status = 1
            continue
        inodes[inode.number] = name
        for mount in ctx.files.tree.mounts:
            if mount.root == inode.number:
                inodes |= {number: name for number, one in ctx.files.tree.inodes.items() if one.dev == mount.dev}
    return inodes, status


def _entries(ctx: Context, query: Query) -> Iterator[_Entry]:
    """The open files of all processes, but for those that the query leaves out whatever else it says."""
    tree = ctx.files.tree
    pids = query.pids if query.strict else None
    only_sockets = query.strict and (query.internet is not None or query.unix)
    mapped: dict[str, list[tuple[Inode, str]]] = {}
    devices = {mount.dev: "{},{}".format(*numbers(ctx.machine, mount.dev)) for mount in tree.mounts}
    sockets: dict[int, list[Row]] = {}
    for row in rows(ctx.machine):
        for process, _ in row.owners:
            sockets.setdefault(process.pid, []).append(row)
    for process in ctx.machine.processes:
        if ctx.cred.uid not in (0, process.cred.uid) or (pids is not None and process.pid not in pids):
            continue
        ctx.spend(4)
        if not only_sockets:
            yield from _special(ctx, devices, process)
            if not is_kernel_thread(process):
                yield from _always(ctx, devices, process, mapped)
        seen = set()
        for file in process.files:
            inode = tree.inodes.get(file.inode)
            if inode is None:
                continue
            seen.add(file.fd)
            letter = {"r": "r", "w": "w", "a": "w"}.get(file.mode[:1], "u") if "+" not in file.mode else "u"
            yield _file(devices, process, f"{file.fd}{letter}", inode, name_now(ctx.machine, file))
        for row in sockets.get(process.pid, []):
            fd = next(fd for owner, fd in row.owners if owner.pid == process.pid)
            if fd not in seen:
                yield _socket(process, row, fd)


def _special(ctx: Context, devices: Devices, process: Process) -> Iterator[_Entry]:
    places = (("cwd", process.cwd), ("rtd", "/"), ("txt", process.exe))
    for fd, path in places:
        if not path or (is_kernel_thread(process) and fd == "txt"):
            continue
        try:
            inode = ctx.machine.view().stat(path)
        except OSError:
            yield _Entry(process, fd, "unknown", "", "", "", f"{path} (deleted)")
            continue
        yield _file(devices, process, fd, inode, path)


def _always(
    ctx: Context, devices: Devices, process: Process, mapped: dict[str, list[tuple[Inode, str]]]
) -> Iterator[_Entry]:
    """What every process has: libraries in its memory (those `mapped` are known), and the three standard streams."""
    view = ctx.machine.view()
    found = mapped.get(process.program)
    if found is None:
        paths = [path for path in (*libraries(view, process.program), LOADER) if view.exists(path)]
        found = mapped[process.program] = [(view.stat(path), view.real_path(path)) for path in paths]
    for inode, path in found:
        yield _file(devices, process, "mem", inode, path)
    own = {file.fd for file in process.files}
    for fd, target in descriptors(ctx.machine, process).items():
        if fd < 3 and fd not in own and target.startswith("/dev/") and view.exists(target):
            yield _file(devices, process, f"{fd}{'u' if fd or process.tty != '?' else 'r'}", view.stat(target), target)


def _file(devices: Devices, process: Process, fd: str, inode: Inode, path: str) -> _Entry:
    kind = "DIR" if inode.is_dir else "CHR" if inode.is_char else "LINK" if inode.is_link else "REG"
    device = devices.get(inode.dev, "0,5")
    size = str(inode.size)
    if inode.device is not None:
        device, size = f"{inode.device[0]},{inode.device[1]}", "0t0"
    elif _pipe(path):
        return _Entry(process, fd, "FIFO", "0,13", "0t0", str(inode.number), "pipe")
    return _Entry(process, fd, kind, device, size, str(inode.number), path, inode.number, inode.nlink)


def _pipe(path: str) -> bool:
    return path.startswith("pipe:")


def _socket(process: Process, row: Row, fd: int) -> _Entry:
    socket = row.socket
    if socket.path or socket.protocol.startswith("unix"):
        state = " (LISTEN)" if socket.state == "LISTEN" else " (CONNECTED)"
        return _Entry(
            process,
            f"{fd}u",
            "unix",
            f"0x{row.inode * 2654435761 & 0xFFFFFFFFFFFF:016x}",
            "0t0",
            str(row.inode),
            f"{socket.path or 'socket'} type=STREAM{state}",
        )
    kind = "IPv6" if is_ipv6(socket.address) else "IPv4"
    return _Entry(
        process, f"{fd}u", kind, str(row.inode), "0t0", socket.protocol.removesuffix("6").upper(), "", row=row
    )


def _socket_name(query: Query, row: Row) -> str:
    socket = row.socket

    def end(address: str, port: int) -> str:
        host = "*" if address in ("0.0.0.0", "::", "", "*") else f"[{address}]" if is_ipv6(address) else address  # noqa: S104
        if not query.numeric_hosts and host in ("127.0.0.1", "[::1]"):
            host = "localhost"
        name = str(port) if query.numeric_ports else service_name(port, socket.protocol)
        return f"{host}:{name}"

    text = end(socket.address, socket.port)
    if socket.peer:
        text += f"->{end(socket.peer, socket.peer_port)}"
    state = {"LISTEN": " (LISTEN)", "": ""}.get(socket.state, f" ({socket.state})")
    return text + (state if socket.protocol.startswith("tcp") else "")


def _wanted(ctx: Context, query: Query, entry: _Entry, inodes: dict[int, str]) -> bool:
    if not query.criteria:
        return True
    process = entry.process
    tests: list[bool] = []
    if query.pids is not None:
        tests.append(process.pid in query.pids)
    if query.users:
        name = accounts(ctx.machine).user_name(process.cred.uid)
        denied = {user[1:] for user in query.users if user.startswith("^")}
        allowed = [user for user in query.users if not user.startswith("^")]
        tests.append((not allowed or name in allowed or str(process.cred.uid) in allowed) and name not in denied)
    if query.commands:
        tests.append(any(process.name.startswith(command) for command in query.commands))
    if query.descriptors:
        tests.append(entry.fd in query.descriptors or entry.fd.rstrip("rwu") in query.descriptors)
    if query.names:
        tests.append(entry.inode in inodes or any(entry.name.startswith(name + " ") for name in query.names))
    if query.below:
        tests.append(any(entry.name == path or entry.name.startswith(path.rstrip("/") + "/") for path in query.below))
    if query.internet is not None:
        tests.append(entry.type in ("IPv4", "IPv6") and _internet(query.internet, entry))
    if query.unix:
        tests.append(entry.type == "unix")
    if query.links is not None:
        tests.append(entry.links is not None and entry.links < query.links)
    return all(tests) if query.conjunction else any(tests)


def _internet(text: str, entry: _Entry) -> bool:
    match = re.fullmatch(r"([46]?)(tcp|udp|TCP|UDP)?(@[^:]+)?(:[\w,-]+)?", text)
    row = entry.row
    if match is None or row is None:
        return False
    family, protocol, host, ports = match.groups()
    socket = row.socket
    if family and (family == "6") != is_ipv6(socket.address):
        return False
    if protocol and socket.protocol.removesuffix("6") != protocol.lower():
        return False
    if host and host[1:] not in (socket.address, socket.peer):
        return False
    if not ports:
        return True
    for part in ports[1:].split(","):
        low, dash, high = part.partition("-")
        for port in (socket.port, socket.peer_port):
            if part == str(port) or part == service_name(port, socket.protocol):
                return True
            if dash and is_digits(low) and is_digits(high) and int(low) <= port <= int(high):
                return True
    return False


def _print(ctx: Context, query: Query, entries: list[_Entry]) -> None:
    known = accounts(ctx.machine)
    titles = ["COMMAND", "PID", *(["PPID"] if query.parents else []), "USER", "FD", "TYPE", "DEVICE", "SIZE/OFF",
              *(["NLINK"] if query.show_links else []), "NODE", "NAME"]  # fmt: skip
    rows_out = []
    for entry in entries:
        process = entry.process
        name = entry.name
        if not name:
            name = _socket_name(query, entry.row) if entry.row is not None else ""
        user = str(process.cred.uid) if query.numeric_users else known.user_name(process.cred.uid)[:8]
        rows_out.append(
            [
                process.name[:9],
                str(process.pid),
                *([str(process.ppid)] if query.parents else []),
                user,
                entry.fd,
                entry.type,
                entry.device,
                entry.size,
                *([str(entry.links) if entry.links is not None else ""] if query.show_links else []),
                entry.node,
                name,
            ]
        )
    widths = [
        max(len(_fd(row[column]) if title == "FD" else row[column]) for row in [titles, *rows_out])
        for column, title in enumerate(titles)
    ]
    for row in [titles, *rows_out]:
        cells = []
        for column, (title, cell, width) in enumerate(zip(titles, row, widths, strict=True)):
            if column == len(titles) - 1:
                cells.append(cell)
            elif title == "COMMAND":
                cells.append(f"{cell:<{width}}")
            elif title == "FD":
                # The access mode hangs over the right edge, so that the numbers line up under the title.
                cells.append(f"{_fd(cell):>{width}}" if cell != title else f"{'FD':>{width - 1}} ")
            else:
                cells.append(f"{cell:>{width}}")
        ctx.line(" ".join(cells))


def _fd(cell: str) -> str:
    return cell if is_digits(cell[:1]) and cell[-1:].isalpha() else f"{cell} "


def _print_fields(ctx: Context, query: Query, entries: list[_Entry]) -> None:
    letters = query.fields or "pcfn"
    last = None
    for entry in entries:
        if entry.process.pid != last:
            last = entry.process.pid
            ctx.line(f"p{last}")
            if "c" in letters:
                ctx.line(f"c{entry.process.name}")
        ctx.line(f"f{entry.fd.rstrip('rwu') or entry.fd}")
        if "n" in letters:
            row = entry.row if not entry.name else None
            ctx.line(f"n{_socket_name(query, row) if row is not None else entry.name}")
