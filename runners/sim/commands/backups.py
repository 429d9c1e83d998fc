"""Backups of what is about to be replaced, as cp, mv, ln and install of GNU coreutils make them."""

from __future__ import annotations

import re
from typing import NamedTuple

from runners.sim.commands.context import Context
from runners.sim.commands.inputs import quoted
from runners.sim.commands.options import Options, choose

_KINDS = (("none", "off"), ("simple", "never"), ("existing", "nil"), ("numbered", "t"))
BACKUP = "backup=?{backup type:" + ",".join("|".join(same) for same in _KINDS) + "}/b"
"""The long option, for those who take it."""


class Backups(NamedTuple):
    """kind: none, simple, existing (numbered where there is such a one already) or numbered."""

    kind: str
    suffix: str

    @classmethod
    def of(cls, ctx: Context, options: Options) -> Backups:
        """A suffix alone asks for backups, too; which kind is usual is said by the environment."""
        suffix = options.value("S") or ctx.environment.get("SIMPLE_BACKUP_SUFFIX") or "~"
        if not options.has("b", "S"):
            return cls("none", suffix)
        usual = ctx.environment.get("VERSION_CONTROL") or "existing"
        return cls(options.value("b") or choose(ctx, usual, _KINDS, "$VERSION_CONTROL"), suffix)

    def keep(self, ctx: Context, path: str) -> str:
        """Move what is there out of the way. Returns its new name, or nothing where no backup is wanted."""
        name = self.name(ctx, path)
        if name:
            ctx.files.rename(path, name)
        return name

    def name(self, ctx: Context, path: str) -> str:
        """What a backup of it would be called now; nothing where none is wanted."""
        if self.kind == "none":
            return ""
        folder, slash, base = path.rpartition("/")
        numbered = re.compile(re.escape(base) + r"\.~([0-9]+)~")
        there = ctx.files.names(folder + slash or ".")
        ctx.spend(len(there))
        found = [match for name in there if (match := numbered.fullmatch(name))]
        if self.kind == "simple" or (self.kind == "existing" and not found):
            return path + self.suffix
        return f"{path}.~{max((int(match[1]) for match in found), default=0) + 1}~"


NO_BACKUPS = Backups("none", "")


def told(name: str) -> str:
    """What is said of a backup behind the names of a copy."""
    return f" (backup: {quoted(name)})" if name else ""
