"""ldd of glibc 2.36: the libraries that a program is linked with."""

from __future__ import annotations

from runners.sim.commands.context import Context
from runners.sim.commands.inputs import describe
from runners.sim.libraries import FOLDER, LOADER, libraries
from runners.sim.machine import mix


def main(ctx: Context) -> int:
    words = [word for word in ctx.args if not word.startswith("-")]
    if "--version" in ctx.args:
        ctx.line("ldd (Debian GLIBC 2.36-9+deb12u4) 2.36")
        return 0
    if not words:
        ctx.stderr.write(b"ldd: missing file arguments\nTry `ldd --help' for more information.\n")
        return 1
    status = 0
    for word in words:
        if len(words) > 1:
            ctx.line(f"{word}:")
        try:
            inode = ctx.files.stat(word)
            head = ctx.files.read(word)[:4] if inode.is_file else b""
        except OSError as error:
            ctx.err(f"{word}: {describe(error)}")
            status = 1
            continue
        if not inode.is_file:
            ctx.err(f"{word}: not regular file")
            status = 1
        elif head != b"\x7fELF":
            ctx.line("\tnot a dynamic executable")
            status = 1
        else:
            _linked(ctx, word, inode.content.program or "")
    return status


def _linked(ctx: Context, word: str, program: str) -> None:
    base = 0x7F0000000000 + (mix(f"{ctx.machine.seed} {ctx.pid} {word}") & 0xFFFFFFF) * 4096
    ctx.line(f"\tlinux-vdso.so.1 (0x{0x7FFC00000000 + (base & 0xFFFFF000):016x})")
    for number, path in enumerate(libraries(ctx.machine.view(), program)):
        ctx.line(f"\t{path.removeprefix(FOLDER + '/')} => {path} (0x{base - (number << 21):016x})")
    ctx.line(f"\t{LOADER} (0x{base + (1 << 22):016x})")
