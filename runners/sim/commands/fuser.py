"""fuser of psmisc 23.6: who uses a file, a file system or a port."""

from __future__ import annotations

from runners.sim.commands.context import Context
from runners.sim.process_info import is_kernel_thread
from runners.sim.processes import Process
from runners.sim.signals import number_of, send
from runners.sim.users import accounts
from runners.text import is_digits

PATH = "/bin/fuser"

_USAGE = """Usage: fuser [-fIMuvw] [-a|-s] [-4|-6] [-c|-m|-n SPACE]
             [-k [-i] [-SIGNAL]] NAME...
       fuser -l
       fuser -V
"""


def main(ctx: Context) -> int:
    flags: set[str] = set()
    number, space = 9, "file"
    names: list[str] = []
    words = list(ctx.args)
    while words:
        word = words.pop(0)
        if word == "--":
            names += words
            break
        if word in ("-n", "--namespace") and words:
            space = words.pop(0)
            if space not in ("file", "tcp", "udp"):
                ctx.stderr.write(f"{space}: Invalid namespace name\n{_USAGE}".encode("utf-8", "surrogateescape"))
                return 1
        elif word.startswith("--"):
            flags.add(
                {"kill": "k", "verbose": "v", "mount": "m", "user": "u", "silent": "s", "all": "a"}.get(word[2:], "")
            )
            if word == "--help":
                ctx.out(_USAGE)
                return 0
        elif word.startswith("-") and len(word) > 1:
            signal = number_of(word[1:])
            if signal is not None:
                number = signal
            elif word == "-V":
                ctx.stderr.write(b"fuser (PSmisc) 23.6\n")
                return 0
            elif set(word[1:]) - set("kvmuscaiIMwf46l"):
                ctx.stderr.write(f"fuser: Invalid option {word}\n{_USAGE}".encode("utf-8", "surrogateescape"))
                return 1
            else:
                flags |= set(word[1:])
        else:
            names.append(word)
    if not names:
        ctx.stderr.write(f"No process specification given\n{_USAGE}".encode("utf-8", "surrogateescape"))
        return 1
    found_any = False
    heading = True
    for name in names:
        users = _users_of(ctx, name, space, mount="m" in flags or "c" in flags)
        if users is None:
            continue
        if users:
            found_any = True
            heading = _report(ctx, name, space, users, flags, heading)
            if "k" in flags:
                for process, _ in users:
                    if process.pid != ctx.pid:
                        send(ctx, process.pid, number)
    return 0 if found_any else 1


def _users_of(ctx: Context, name: str, space: str, *, mount: bool) -> list[tuple[Process, str]] | None:
    """Processes with how each uses it: c(urrent dir), e(xecutable), f(ile), F (open for writing), r(oot)."""
    port, slash, protocol = name.partition("/")
    if (slash and protocol in ("tcp", "udp") and is_digits(port)) or space != "file":
        protocol = protocol if slash else space
        if not is_digits(port):
            ctx.stderr.write(f"{port}: unknown service\n".encode("utf-8", "surrogateescape"))
            return None
        return [
            (process, "F")
            for process in ctx.machine.processes
            if any(
                socket.protocol.removesuffix("6") == protocol and socket.port == int(port) for socket in process.sockets
            )
        ]
    try:
        inode = ctx.files.stat(name)
    except OSError:
        ctx.stderr.write(f"Specified filename {name} does not exist.\n".encode("utf-8", "surrogateescape"))
        return None
    tree = ctx.files.tree

    def used(number: int) -> bool:
        one = tree.inodes.get(number)
        return number == inode.number or (mount and one is not None and one.dev == inode.dev)

    found = []
    view = ctx.machine.view()
    for process in ctx.machine.processes:
        if is_kernel_thread(process):
            continue
        letters = ""
        for file in process.files:
            if used(file.inode):
                letters = "F" if file.mode != "r" else letters or "f"
        for path, letter in ((process.cwd, "c"), (process.exe, "e")):
            if path and view.exists(path) and used(view.stat(path).number):
                letters += letter
        if letters:
            found.append((process, letters))
    return found


def _report(
    ctx: Context, name: str, space: str, users: list[tuple[Process, str]], flags: set[str], heading: bool
) -> bool:
    label = name if "/" in name or space == "file" else f"{name}/{space}"
    label = ctx.files.absolute(name) if not label.endswith(("/tcp", "/udp")) and not is_digits(label[0]) else label
    if "s" in flags:
        return heading
    if "v" not in flags:
        ctx.stderr.write(f"{label}:".ljust(21).encode("utf-8", "surrogateescape"))
        for process, letters in users:
            shown = "".join(letter for letter in letters if letter in "ce")
            ctx.out(f"{process.pid:>6}")
            if shown:
                ctx.stderr.write(shown.encode("utf-8", "surrogateescape"))
        ctx.stderr.write(b"\n")
        return heading
    known = accounts(ctx.machine)
    # The pids alone go to standard output, so that they can be taken up by a pipe.
    if heading:
        ctx.stderr.write(f"{'':<21}USER        PID ACCESS COMMAND\n".encode("utf-8", "surrogateescape"))
    for index, (process, letters) in enumerate(users):
        opened = "F" if "F" in letters else "f" if "f" in letters else "."
        access = opened + "".join(letter if letter in letters else "." for letter in "rce") + "."
        lead = f"{label + ':':<20} " if index == 0 else " " * 21
        ctx.stderr.write(f"{lead}{known.user_name(process.cred.uid):<8} ".encode("utf-8", "surrogateescape"))
        ctx.out(f"{process.pid:>6}")
        ctx.stderr.write(f" {access} {process.name}\n".encode("utf-8", "surrogateescape"))
    return False
