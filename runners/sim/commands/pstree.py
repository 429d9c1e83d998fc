"""pstree of psmisc 23.6: processes as a tree; those that look alike stand together, `2*[nginx]`."""

from __future__ import annotations

from typing import NamedTuple

from runners.sim.commands.context import Context
from runners.sim.processes import Process
from runners.sim.tool import Tool
from runners.sim.users import accounts
from runners.text import is_digits

_TOOL = Tool(
    "pstree [-acglpsStTuZ] [ -h | -H PID ] [ -n | -N type ] [ -A | -G | -U ] [ PID | USER ]",
    "a,arguments A,ascii c,compact-not C,color= g,show-pgids G,vt100 h,highlight-all H,highlight-pid= l,long "
    "n,numeric-sort N,ns-sort= p,show-pids s,show-parents S,ns-changes t,thread-names T,hide-threads u,uid-changes "
    "U,unicode Z,security-context V,version",
    "pstree (PSmisc) 23.6", hinted=False,
)  # fmt: skip
_UNICODE = ("─┬─", "─┴─", " ├─", " │ ", " └─", "───")
_ASCII = ("-+-", "-+-", " |-", " | ", " `-", "---")
_WIDTH = 132


class _Tree(NamedTuple):
    label: str
    children: tuple[_Tree, ...]


def main(ctx: Context) -> int:
    options = _TOOL.parse(ctx)
    table = ctx.machine.processes
    top = [1]
    if options.operands:
        wanted = options.operands[0]
        if is_digits(wanted):
            if table.get(int(wanted)) is None:
                return 1
            top = [int(wanted)]
        else:
            user = accounts(ctx.machine).user(wanted)
            if user is None:
                ctx.stderr.write(f"No such user name: {wanted}\n".encode("utf-8", "surrogateescape"))
                return 1
            own = [process for process in table if process.cred.uid == user.uid]
            top = [
                process.pid
                for process in own
                if (above := table.get(process.ppid)) is None or above.cred.uid != user.uid
            ]
            if not top:
                ctx.line("No processes found.")
                return 1
    drawn = _Drawing(ctx, options.has("p"), options.has("a"), options.has("u"), options.has("n"), options.has("T"),
                     compact=not options.has("c", "p", "a"), signs=_ASCII if options.has("A") else _UNICODE,
                     width=1 << 20 if options.has("l") else _WIDTH)  # fmt: skip
    for number, pid in enumerate(top):
        process = table.get(pid)
        if process is None:
            continue
        if number:
            ctx.line()
        tree = drawn.tree(process, process.cred.uid if pid == 1 else -1)
        if options.has("s"):
            tree = drawn.with_parents(process, tree)
        for line in drawn.lines(tree):
            ctx.line(line)
    return 0


class _Drawing:
    """How the tree is to look."""

    def __init__(
        self, ctx: Context, pids: bool, arguments: bool, users: bool, numeric: bool, no_threads: bool, *,
        compact: bool, signs: tuple[str, ...], width: int,
    ) -> None:  # fmt: skip
        self.ctx = ctx
        self.pids = pids
        self.arguments = arguments
        self.users = users
        self.numeric = numeric
        self.threads = not no_threads
        self.compact = compact
        self.signs = signs
        self.width = width

    def tree(self, process: Process, above: int) -> _Tree:
        self.ctx.spend(5)
        children = sorted(
            self.ctx.machine.processes.children(process.pid),
            key=lambda one: one.pid if self.numeric else (one.name, one.pid),
        )
        drawn = [self.tree(child, process.cred.uid) for child in children]
        if self.threads and process.threads > 1:
            for number in range(1, process.threads):
                drawn.append(_Tree(f"{{{process.name}}}" + (f"({process.pid + number})" if self.pids else ""), ()))
        return _Tree(self._label(process, above), tuple(drawn))

    def with_parents(self, process: Process, tree: _Tree) -> _Tree:
        parent = self.ctx.machine.processes.get(process.ppid)
        while parent is not None:
            tree = _Tree(self._label(parent, parent.cred.uid), (tree,))
            parent = self.ctx.machine.processes.get(parent.ppid)
        return tree

    def _label(self, process: Process, above: int) -> str:
        label = process.name
        marks = [str(process.pid)] if self.pids else []
        if self.users and process.cred.uid != above and above >= 0:
            marks.append(accounts(self.ctx.machine).user_name(process.cred.uid))
        if marks:
            label += f",{','.join(marks)}" if self.arguments else f"({','.join(marks)})"
        if self.arguments and process.argv[1:]:
            label += " " + " ".join(process.argv[1:])
        return label

    def lines(self, tree: _Tree) -> list[str]:
        if self.arguments:
            return [line[: self.width] for line in self._indented(tree, "", "")]
        found: list[str] = []
        self._draw(tree, "", "", found)
        return [line if len(line) <= self.width else line[: self.width - 1] + "+" for line in found]

    def _indented(self, tree: _Tree, lead: str, sign: str) -> list[str]:
        """With arguments each process has a line of its own."""
        found = [lead + sign + tree.label]
        inner = (
            lead + {"": "  ", self.signs[2].strip(): self.signs[3].strip() + "   "}.get(sign, "    ") if sign else "  "
        )
        for number, child in enumerate(tree.children):
            last = number == len(tree.children) - 1
            found += self._indented(child, inner, (self.signs[4] if last else self.signs[2]).strip())
        return found

    def _draw(self, tree: _Tree, before: str, lead: str, found: list[str]) -> None:
        """`before`: what stands on this line so far; `lead`: what stands before the lines below."""
        groups = self._groups(tree.children)
        if not groups:
            found.append(before + tree.label)
            return
        lead += " " * len(tree.label)
        first, _, branch, bar, corner, only = self.signs
        for number, (count, child) in enumerate(groups):
            last = number == len(groups) - 1
            start = (
                before + tree.label + (only if len(groups) == 1 else first)
                if number == 0
                else lead + (corner if last else branch)
            )
            inner = lead + ("   " if last else bar)
            if count > 1:
                mark = f"{count}*["
                rows: list[str] = []
                self._draw(child, start + mark, inner + " " * len(mark), rows)
                found += [rows[0] + "]", *rows[1:]]
            else:
                self._draw(child, start, inner, found)

    def _groups(self, children: tuple[_Tree, ...]) -> list[tuple[int, _Tree]]:
        groups: list[tuple[int, _Tree]] = []
        for child in children:
            place = next((at for at, (_, known) in enumerate(groups) if self.compact and known == child), None)
            # Threads are alike also where their numbers are shown apart.
            if place is None:
                groups.append((1, child))
            else:
                groups[place] = (groups[place][0] + 1, child)
        return groups
