"""getfacl of acl 2.3.1: a file's access control lists."""

from __future__ import annotations

import stat

from runners.formats.accounts import Accounts
from runners.sim.acl_text import lines, named, rows, shown
from runners.sim.commands.context import CommandExit, Context
from runners.sim.commands.inputs import describe
from runners.sim.commands.options import Options, parse
from runners.sim.files.acl import Acl, acl_of
from runners.sim.files.inode import Inode
from runners.sim.users import accounts

_USAGE = "Usage: getfacl [-aceEsRLPtpndvh] file ...\nTry `getfacl --help' for more information.\n"
_HELP = """getfacl 2.3.1 -- get file access control lists
Usage: getfacl [-aceEsRLPtpndvh] file ...
  -a, --access            display the file access control list only
  -d, --default           display the default access control list only
  -c, --omit-header       do not display the comment header
  -e, --all-effective     print all effective rights
  -E, --no-effective      print no effective rights
  -s, --skip-base         skip files that only have the base entries
  -R, --recursive         recurse into subdirectories
  -L, --logical           logical walk, follow symbolic links
  -P, --physical          physical walk, do not follow symbolic links
  -t, --tabular           use tabular output format
  -n, --numeric           print numeric user/group identifiers
      --one-file-system   skip files on different filesystems
  -p, --absolute-names    don't strip leading '/' in pathnames
  -v, --version           print version and exit
  -h, --help              this help text
"""
_LONG = (
    "access/a", "default/d", "omit-header/c", "all-effective/e", "no-effective/E", "skip-base/s", "recursive/R",
    "logical/L", "physical/P", "tabular/t", "numeric/n", "one-file-system", "absolute-names/p", "version/v", "help/h",
)  # fmt: skip


def main(ctx: Context) -> int:
    try:
        options = parse(ctx, "adceEsRLPtnpvh", _LONG, status=2, hinted=False)
    except CommandExit:
        return _misused(ctx)
    if options.has("h"):
        ctx.out(_HELP)
        return 0
    if options.has("v"):
        ctx.line("getfacl 2.3.1")
        return 0
    if not options.operands:
        return _misused(ctx)
    return _Reader(ctx, options).run()


def _misused(ctx: Context) -> int:
    ctx.stderr.write(_USAGE.encode())
    return 2


class _Reader:
    def __init__(self, ctx: Context, options: Options) -> None:
        self.ctx = ctx
        self.options = options
        self.known = accounts(ctx.machine)
        self.stripped = False
        self.status = 0

    def run(self) -> int:
        paths = self.options.operands
        if paths == ["-"]:
            paths = self.ctx.stdin.read().decode("utf-8", "surrogateescape").splitlines()
        for path in paths:
            self._walk(path, top=True)
        return self.status

    def _walk(self, path: str, *, top: bool) -> None:
        ctx, has = self.ctx, self.options.has
        ctx.spend(5)
        try:
            inode = ctx.files.stat(path, follow=False)
            if inode.is_link:
                if has("P") or (has("R") and not (top or has("L"))):
                    return
                inode = ctx.files.stat(path)
            self._show(path, inode)
            names = ctx.files.names(path) if has("R") and inode.is_dir else []
        except OSError as error:
            ctx.err(f"{path}: {describe(error)}")
            self.status = 1
            return
        for name in names:
            self._walk(f"{path}/{name}", top=False)

    def _show(self, path: str, inode: Inode) -> None:
        has = self.options.has
        access, default = acl_of(inode.mode, inode.acl), inode.default_acl
        if has("s") and not access.extended and default is None:
            return
        both = has("a") == has("d")
        wanted = access if both or has("a") else None
        inherited = default if both or has("d") else None
        if not has("c") or has("t"):
            self._header(path, inode)
        if has("t"):
            self._table(inode, wanted, inherited)
        else:
            names, effective = self._names(), True if has("e") else False if has("E") else None
            for line in lines(wanted, names, effective=effective) if wanted is not None else ():
                self.ctx.line(line)
            prefix = "default:" if wanted is not None else ""
            for line in lines(inherited, names, effective=effective) if inherited is not None else ():
                self.ctx.line(prefix + line)
        self.ctx.line("")

    def _names(self) -> Accounts | None:
        return None if self.options.has("n") else self.known

    def _header(self, path: str, inode: Inode) -> None:
        if path.startswith("/") and not self.options.has("p"):
            if not self.stripped:
                self.ctx.err("Removing leading '/' from absolute path names")
                self.stripped = True
            path = path.lstrip("/") or "."
        escaped = path.replace("\\", "\\134").replace("\n", "\\012").replace("\r", "\\015")
        self.ctx.line(f"# file: {escaped}")
        if self.options.has("t"):
            return
        user, group = named("u", inode.uid, self._names()), named("g", inode.gid, self._names())
        self.ctx.line(f"# owner: {user}\n# group: {group}")
        special = "".join(
            letter if inode.mode & bit else "-"
            for letter, bit in (("s", stat.S_ISUID), ("s", stat.S_ISGID), ("t", stat.S_ISVTX))
        )
        if special != "---":
            self.ctx.line(f"# flags: {special}")

    def _table(self, inode: Inode, access: Acl | None, default: Acl | None) -> None:
        """Both lists side by side; what the mask takes away in capitals."""
        left, right = self._cells(access), self._cells(default)
        keys = sorted({*left, *right}, key=lambda key: ("ugmo".index(key[0]), -1 if key[1] is None else key[1]))
        own = {"u": inode.uid, "g": inode.gid}
        spelled = {(tag, who): named(tag, own.get(tag) if who is None else who, self._names()) for tag, who in keys}
        width = max(len(name) for name in spelled.values())
        for key in keys:
            tag = {"u": "user", "g": "group", "m": "mask", "o": "other"}[key[0]]
            tag = tag.upper() if key[0] in "ug" and key[1] is None else tag
            self.ctx.line(f"{tag:<5}  {spelled[key]:<{width}}  {left.get(key, ''):<3}  {right.get(key, ''):<3}")

    def _cells(self, acl: Acl | None) -> dict[tuple[str, int | None], str]:
        found: dict[tuple[str, int | None], str] = {}
        for tag, who, bits, bound in rows(acl) if acl is not None else ():
            left = bits & acl.mask if bound and acl is not None and acl.mask is not None else bits
            text = "".join(
                letter.upper() if letter != "-" and kept == "-" else letter
                for letter, kept in zip(shown(bits), shown(left), strict=True)
            )
            found[tag, who] = text
        return found
