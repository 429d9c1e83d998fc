"""systemd-escape, systemd-detect-virt: small tools of systemd 252."""

from __future__ import annotations

from runners.sim.commands.context import Context
from runners.sim.tool import Tool

NAMES = ("systemd-escape", "systemd-detect-virt")
_VERSION = "systemd 252 (252.22-1~deb12u1)"
_ESCAPE = Tool(
    "systemd-escape [OPTIONS...] [NAME...]", "suffix= template= instance u,unescape m,mangle p,path h,help version",
    _VERSION, hinted=False,
)  # fmt: skip
_DETECT = Tool(
    "systemd-detect-virt [OPTIONS...]", "c,container v,vm r,chroot q,quiet private-users cvm list h,help version",
    _VERSION, hinted=False,
)  # fmt: skip


def main(ctx: Context) -> int:
    return _detect(ctx) if ctx.name == "systemd-detect-virt" else _escape(ctx)


def _detect(ctx: Context) -> int:
    options = _DETECT.parse(ctx)
    if options.has("c", "r"):
        if options.has("c") and not options.has("q"):
            ctx.line("none")
        return 1
    if not options.has("q"):
        ctx.line("kvm")
    return 0


def _escape(ctx: Context) -> int:
    options = _ESCAPE.parse(ctx)
    if not options.operands:
        ctx.stderr.write(b"Not enough arguments.\n")
        return 1
    suffix, template = options.value("suffix"), options.value("template")
    shown = []
    for name in options.operands:
        text = _unescaped(name) if options.has("u") else _escaped(name.strip("/") or "/" if options.has("p") else name)
        if options.has("u") and options.has("p"):
            text = "/" + text
        if template is not None:
            text = template.replace("@.", f"@{text}.", 1)
        shown.append(text + (f".{suffix}" if suffix else ""))
    ctx.line(" ".join(shown))
    return 0


def _escaped(text: str) -> str:
    if text == "/":
        return "-"
    out = []
    for at, char in enumerate(text):
        if char == "/":
            out.append("-")
        elif (char.isascii() and char.isalnum()) or char in ":_" or (char == "." and at):
            out.append(char)
        else:
            out += [f"\\x{byte:02x}" for byte in char.encode("utf-8", "surrogateescape")]
    return "".join(out)


def _unescaped(text: str) -> str:
    data, at = bytearray(), 0
    while at < len(text):
        if text.startswith("\\x", at) and at + 4 <= len(text):
            data.append(int(text[at + 2 : at + 4], 16))
            at += 4
            continue
        data += b"/" if text[at] == "-" else text[at].encode("utf-8", "surrogateescape")
        at += 1
    return data.decode("utf-8", "surrogateescape")
