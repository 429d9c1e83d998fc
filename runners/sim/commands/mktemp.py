"""mktemp: create a temporary file or directory."""

from __future__ import annotations

from runners.sim.commands.context import Context
from runners.sim.commands.inputs import describe
from runners.sim.commands.options import parse

_ALPHABET = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"


def main(ctx: Context) -> int:
    options = parse(
        ctx,
        "dp:qtuV",
        ["directory/d", "dry-run/u", "quiet/q", "suffix=", "tmpdir=?/p"],
        usage="Usage: mktemp [OPTION]... [TEMPLATE]\nCreate a temporary file or directory, safely, and print its name.",
    )
    template = options.operands[0] if options.operands else "tmp.XXXXXXXXXX"
    folder = ctx.environment.get("TMPDIR") or "/tmp"  # noqa: S108 (the machine's own)
    suffix = options.value("suffix") or ""
    stem = template.rstrip("X")
    count = len(template) - len(stem)
    if not suffix and count < 3 and "XXX" in template:
        at = template.rindex("XXX") + 3
        template, suffix = template[:at], template[at:]
        stem = template.rstrip("X")
        count = len(template) - len(stem)
    if count < 3:
        ctx.die(f"too few X's in template ‘{template}’")
    value = int(ctx.machine.random("mktemp") * 62**9)
    letters = "".join(_ALPHABET[value // 62 ** (power % 9) % 62] for power in range(count))
    path = stem + letters + suffix
    if options.has("p", "t") or not options.operands:
        path = f"{options.value('p') or folder}/{path}"
    if options.has("u"):
        ctx.line(path)
        return 0
    try:
        if options.has("d"):
            ctx.files.mkdir(path, 0o700)
        else:
            ctx.files.write(path, b"", mode=0o600)
    except OSError as error:
        kind = "directory" if options.has("d") else "file"
        ctx.die(
            f"failed to create {kind} via template "
            f"‘{path[: len(path) - len(letters) - len(suffix)]}{'X' * count}{suffix}’: {describe(error)}"
        )
    ctx.line(path)
    return 0
