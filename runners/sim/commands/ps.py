"""ps of procps-ng 4.0.2: UNIX, BSD and GNU options, output formats, sorting and forests."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NoReturn

from runners.sim.commands.context import CommandExit, Context
from runners.sim.processes import Process
from runners.sim.ps_columns import COLUMNS, Column, Listing
from runners.sim.ps_output import forest, row_line
from runners.text import is_digits

_USAGE = """
Usage:
 ps [options]

 Try 'ps --help <simple|list|output|threads|misc|all>'
  or 'ps --help <s|l|o|t|m|a>'
 for additional help text.

For more details see ps(1).
"""

_FORMATS = {
    "default": "pid tname time ucmd",
    "bsd": "pid tname stat bsdtime args",
    "bsd u": "user pid %cpu %mem vsz rss tname stat start_time bsdtime args",
    "bsd j": "ppid pid pgid sid tname tpgid stat uid bsdtime args",
    "bsd l": "f uid pid ppid pri_bsd ni vsz rss wchan stat tname bsdtime args",
    "bsd v": "pid tname stat bsdtime maj_flt trs drs rss %mem args",
    "-f": "uid_name pid ppid c stime tname time cmd",
    "-F": "uid_name pid ppid c sz rss psr stime tname time cmd",
    "-l": "f s uid pid ppid c opri ni addr sz wchan tname time ucmd",
    "-lf": "f s uid_name pid ppid c opri ni addr sz wchan stime tname time cmd",
    "-j": "pid pgid sid tname time ucmd",
    "-jf": "uid_name pid ppid pgid sid c stime tname time cmd",
    "-Lf": "uid_name pid ppid lwp c nlwp stime tname time cmd",
    "-L": "pid lwp tname time ucmd",
}

_REPLACED = frozenset({"nice", "env", "nohup", "setsid", "ionice", "stdbuf"})
"""Programs that become the command they run."""

Test = Callable[[Process], bool]


class _Request:
    """What the command line asks for, filled in while it is read."""

    def __init__(self) -> None:
        self.everything = False
        self.bsd = False
        self.bsd_all = False
        self.bsd_x = False
        self.negate = False
        self.headers = True
        self.forest = False
        self.plain = False
        self.environment = False
        self.wide = 0
        self.letters: set[str] = set()
        self.columns: list[tuple[Column, str | None]] = []
        self.sort: list[tuple[str, bool]] = []
        self.tests: list[Test] = []
        self.no_leaders = False
        self.all_with_tty = False


def main(ctx: Context) -> int:
    listing = Listing(ctx.machine)
    request = _Request()
    _read(ctx, request, listing)
    own = _own_process(ctx)
    listing.add(own)
    chosen = [process for process in listing.processes if _selected(request, listing, process, own)]
    ctx.spend(8 * len(chosen))
    columns = request.columns or [(COLUMNS[name], None) for name in _format_name(request).split()]
    if request.sort:
        for key, descending in reversed(request.sort):
            column = COLUMNS[key]
            chosen.sort(key=lambda process, column=column: column.key(listing, process), reverse=descending)  # type: ignore[misc]
    indents: dict[int, str] = {}
    if request.forest:
        chosen, indents = forest(chosen, plain=request.plain)
    _print(ctx, request, listing, chosen, columns, indents)
    return 0 if chosen else 1


def _own_process(ctx: Context) -> Process:
    """This very ps, which a real one lists too."""
    known = ctx.machine.processes.get(ctx.pid)
    argv = tuple(ctx.argv)
    if known is not None and known.argv == argv:
        return known if ctx.machine.processes.get(known.ppid) else known._replace(ppid=_shell_of(ctx, known))
    if known is not None and known.name in _REPLACED:
        return known._replace(argv=argv, exe="/usr/bin/ps", program="ps", state="R", rss=4 << 20)
    pid = ctx.pid if known is None else ctx.machine.processes.next_pid
    return Process(
        pid=pid, ppid=known.pid if known is not None else 1, cred=ctx.cred, argv=argv, exe="/usr/bin/ps", program="ps",
        cwd=ctx.files.cwd, started=ctx.machine.clock.now, state="R", rss=4 << 20, vsz=11 << 20,
        tty=known.tty if known is not None else ctx.tty,
    )  # fmt: skip


def _shell_of(ctx: Context, process: Process) -> int:
    """The youngest older process on the same terminal: the shell that a subshell's commands belong to."""
    shells = [other.pid for other in ctx.machine.processes if other.tty == process.tty and other.pid < process.pid]
    return max(shells, default=1)


# -- reading the command line


def _read(ctx: Context, request: _Request, listing: Listing) -> None:
    pending = list(ctx.args)
    while pending:
        word = pending.pop(0)
        if word.startswith("--"):
            _read_long(ctx, request, listing, word[2:], pending)
        elif word.startswith("-") and len(word) > 1:
            if is_digits(word[1:]):
                _by_numbers(ctx, request, word[1:], lambda process: process.pid)
            else:
                _read_unix(ctx, request, listing, word[1:], pending)
        elif is_digits(word[:1]):
            _by_numbers(ctx, request, word, lambda process: process.pid)
        else:
            _read_bsd(ctx, request, listing, word, pending)


def _argument(ctx: Context, rest: str, pending: list[str], what: str) -> str:
    if rest:
        return rest
    if not pending:
        _fail(ctx, what)
    return pending.pop(0)


def _fail(ctx: Context, message: str) -> NoReturn:
    ctx.stderr.write(f"error: {message}\n{_USAGE}".encode("utf-8", "surrogateescape"))
    raise CommandExit(1)


def _read_unix(ctx: Context, request: _Request, listing: Listing, letters: str, pending: list[str]) -> None:
    while letters:
        letter, letters = letters[0], letters[1:]
        if letter in "eA":
            request.everything = True
        elif letter == "a":
            request.all_with_tty = True
        elif letter == "d":
            request.no_leaders = True
        elif letter in "fFljLyMcPmT":
            request.letters.add(letter)
        elif letter == "w":
            request.wide += 1
        elif letter == "H":
            request.forest = request.plain = True
        elif letter == "N":
            request.negate = True
        elif letter == "V":
            ctx.line("ps from procps-ng 4.0.2")
            raise CommandExit(0)
        elif letter in "oO":
            _add_columns(ctx, request, _argument(ctx, letters, pending, f"option -{letter} requires an argument"))
            return
        elif letter in "pqCuUgGst":
            names = {"p": "list of process IDs must follow -p", "C": "list of command names must follow -C",
                     "u": "list of users must follow -u", "U": "list of real users must follow -U",
                     "t": "list of terminals (pty, tty...) must follow -t"}  # fmt: skip
            text = _argument(ctx, letters, pending, names.get(letter, f"list must follow -{letter}"))
            _select(ctx, request, listing, letter, text)
            return
        else:
            _fail(ctx, "unsupported SysV option" if letter.isalpha() else "unsupported option")


def _select(ctx: Context, request: _Request, listing: Listing, letter: str, text: str) -> None:
    if letter in "pq":
        _by_numbers(ctx, request, text, lambda process: process.pid)
    elif letter == "C":
        names = {name[:15] for name in _items(text)}
        request.tests.append(lambda process: process.name in names)
    elif letter in "uU":
        uids = {_uid(ctx, listing, item) for item in _items(text)}
        request.tests.append(lambda process: process.cred.uid in uids)
    elif letter in "gs":
        _by_numbers(ctx, request, text, lambda process: listing.session(process))
    elif letter == "G":
        gids = {_gid(ctx, listing, item) for item in _items(text)}
        request.tests.append(lambda process: process.cred.gid in gids)
    else:
        ttys = {item.removeprefix("/dev/") for item in _items(text)}
        request.tests.append(lambda process: process.tty in ttys or process.tty.removeprefix("tty") in ttys)


def _read_bsd(ctx: Context, request: _Request, listing: Listing, letters: str, pending: list[str]) -> None:
    request.bsd = True
    while letters:
        letter, letters = letters[0], letters[1:]
        if letter == "a":
            request.bsd_all = True
        elif letter == "x":
            request.bsd_x = True
        elif letter == "f":
            request.forest = True
        elif letter == "e":
            request.environment = True
        elif letter == "w":
            request.wide += 1
        elif letter == "h":
            request.headers = False
        elif letter in "ujlv":
            request.letters.add(letter)
        elif letter in "oO":
            _add_columns(ctx, request, _argument(ctx, letters, pending, f"option {letter} requires an argument"))
            return
        elif letter == "k":
            _add_sort(ctx, request, _argument(ctx, letters, pending, "long sort specification must follow 'k'"))
            return
        elif letter in "pU":
            text = _argument(ctx, letters, pending, f"list must follow {letter}")
            _select(ctx, request, listing, letter, text)
            return
        elif letter in "rTcgnSsmLHX":
            if letter == "r":
                request.tests.append(lambda process: process.state in "RD")
        else:
            _fail(ctx, "unsupported option (BSD syntax)")


def _read_long(ctx: Context, request: _Request, listing: Listing, word: str, pending: list[str]) -> None:
    name, equals, argument = word.partition("=")
    if name in ("format", "sort", "pid", "ppid", "user", "User", "group", "Group", "tty", "sid", "quick-pid",
                "cols", "columns", "width", "lines", "rows"):  # fmt: skip
        if not equals:
            argument = _argument(ctx, "", pending, f"option --{name} requires an argument")
        if name == "format":
            _add_columns(ctx, request, argument)
        elif name == "sort":
            _add_sort(ctx, request, argument)
        elif name == "ppid":
            _by_numbers(ctx, request, argument, lambda process: process.ppid)
        elif name in ("cols", "columns", "width"):
            listing.width = int(argument) if is_digits(argument) else None
        elif name not in ("lines", "rows"):
            letter = {"pid": "p", "quick-pid": "p", "user": "u", "User": "U", "group": "G", "Group": "G",
                      "tty": "t", "sid": "s"}[name]  # fmt: skip
            _select(ctx, request, listing, letter, argument)
    elif name == "forest":
        request.forest = True
    elif name in ("no-headers", "no-heading", "no-headings", "noheader", "noheaders", "noheading"):
        request.headers = False
    elif name == "headers":
        request.headers = True
    elif name == "deselect":
        request.negate = True
    elif name == "help":
        ctx.out(_USAGE)
        raise CommandExit(0)
    elif name in ("version", "info"):
        ctx.line("ps from procps-ng 4.0.2")
        raise CommandExit(0)
    else:
        _fail(ctx, "unknown gnu long option")


def _items(text: str) -> list[str]:
    return text.replace(",", " ").split()


def _by_numbers(ctx: Context, request: _Request, text: str, number: Callable[[Process], int]) -> None:
    items = _items(text)
    if not items or not all(is_digits(item) for item in items):
        _fail(ctx, "process ID list syntax error")
    wanted = {int(item) for item in items}
    if 0 in wanted:
        _fail(ctx, "process ID out of range")
    request.tests.append(lambda process: number(process) in wanted)


def _uid(ctx: Context, listing: Listing, item: str) -> int:
    if is_digits(item):
        return int(item)
    uid = listing.uid(item)
    if uid is None:
        _fail(ctx, "user name does not exist")
    return uid


def _gid(ctx: Context, listing: Listing, item: str) -> int:
    if is_digits(item):
        return int(item)
    gid = listing.gid(item)
    if gid is None:
        _fail(ctx, "group name does not exist")
    return gid


def _add_columns(ctx: Context, request: _Request, text: str) -> None:
    """Columns of -o. `name=Header` renames one and takes the rest of the argument; an empty header is none."""
    head, equals, title = text.partition("=")
    names = _items(head)
    for index, name in enumerate(names):
        plain, colon, width = name.partition(":")
        column = COLUMNS.get(plain)
        if column is None or (colon and not is_digits(width)):
            _fail(ctx, f'unknown user-defined format specifier "{name}"')
        if colon:
            column = column._replace(width=int(width))
        last = index == len(names) - 1
        request.columns.append((column, title if equals and last else None))
    if "=" in title and equals and title.startswith(","):
        # `pid=,comm=` names several columns, each without a header.
        request.columns[-1] = (request.columns[-1][0], "")
        _add_columns(ctx, request, title[1:])


def _add_sort(ctx: Context, request: _Request, text: str) -> None:
    for item in _items(text):
        name = item.lstrip("+-")
        if name not in COLUMNS:
            _fail(ctx, f"unknown sort specifier: {name}" if not name else "unknown sort specifier")
        request.sort.append((name, item.startswith("-")))


# -- choosing, ordering, printing


def _selected(request: _Request, listing: Listing, process: Process, own: Process) -> bool:
    if request.tests:
        chosen = any(test(process) for test in request.tests) or request.everything
    elif request.everything or (request.bsd_all and request.bsd_x):
        chosen = True
    elif request.all_with_tty or request.no_leaders:
        leader = listing.session(process) == process.pid
        chosen = not leader and (request.no_leaders or process.tty != "?")
    elif request.bsd_all:
        chosen = process.tty != "?"
    elif request.bsd_x:
        chosen = process.cred.uid == own.cred.uid
    elif request.bsd:
        chosen = process.cred.uid == own.cred.uid and process.tty != "?"
    else:
        chosen = process.cred.uid == own.cred.uid and process.tty == own.tty
    return chosen != request.negate


def _format_name(request: _Request) -> str:
    letters = request.letters
    if request.bsd and not letters & {"F", "L"}:
        for letter in "ujlv":
            if letter in letters:
                return _FORMATS[f"bsd {letter}"]
        if "f" not in letters:
            return _FORMATS["bsd"]
    if "F" in letters:
        return _FORMATS["-F"]
    full = "f" in letters
    for letter in "ljL":
        if letter in letters:
            return _FORMATS[f"-{letter}f" if full else f"-{letter}"]
    return _FORMATS["-f" if full else "default"]


def _print(
    ctx: Context,
    request: _Request,
    listing: Listing,
    processes: Iterable[Process],
    columns: Sequence[tuple[Column, str | None]],
    indents: dict[int, str],
) -> None:
    titles = [column.header if title is None else title for column, title in columns]
    widths = [
        max(listing.column_width(column), len(title)) if title or column.header == "" else listing.column_width(column)
        for (column, _), title in zip(columns, titles, strict=True)
    ]
    limit = listing.width
    if limit is None and ctx.stdout.is_terminal and request.wide < 2:
        limit = int(ctx.environment.get("COLUMNS", "80") or "80") + (52 if request.wide else 0)
    rows: list[list[str]] = []
    if request.headers and any(titles):
        rows.append(titles)
    for process in processes:
        cells = []
        for column, _ in columns:
            text = column.text(listing, process)
            if column.is_command:
                text = indents.get(process.pid, "") + text
                if request.environment and column.header in ("COMMAND", "CMD"):
                    text = " ".join([text, *(f"{name}={value}" for name, value in process.environment)])
            cells.append(text)
        rows.append(cells)
    ctx.spend(4 * len(rows))
    out = []
    for row in rows:
        line = row_line(row, columns, widths)
        out.append(line[:limit] if limit is not None else line)
    ctx.out("".join(line + "\n" for line in out))
