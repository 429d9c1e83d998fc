"""iconv of glibc 2.36: text from one character set into another."""

from __future__ import annotations

import codecs
import unicodedata

from runners.sim.commands.context import CommandExit, Context
from runners.sim.commands.inputs import describe
from runners.sim.tool import Tool

_TOOL = Tool(
    "iconv [OPTION...] [FILE...]", "f,from-code= t,to-code= l,list c o,output= s,silent verbose V,version",
    "iconv (Debian GLIBC 2.36-9+deb12u4) 2.36",
)  # fmt: skip
_KNOWN = ("ASCII", "CP1250", "CP1251", "CP1252", "CP437", "CP850", "EUC-JP", "GB18030", "ISO-8859-1", "ISO-8859-15",
          "ISO-8859-2", "ISO-8859-5", "KOI8-R", "KOI8-U", "LATIN1", "SHIFT_JIS", "UTF-16", "UTF-16BE", "UTF-16LE",
          "UTF-32", "UTF-7", "UTF-8", "UTF8", "US-ASCII", "WINDOWS-1252")  # fmt: skip


def main(ctx: Context) -> int:
    options = _TOOL.parse(ctx)
    if options.has("l"):
        for name in _KNOWN:
            ctx.line(f"{name}//")
        return 0
    source, target = options.value("f") or "UTF-8", options.value("t") or "UTF-8"
    named, _, how = target.partition("//")
    decoder, encoder = _codec(ctx, source.partition("//")[0], "from"), _codec(ctx, named, "to")
    data = b""
    for path in options.operands or ["-"]:
        try:
            data += ctx.open(path).read()
        except OSError as error:
            ctx.err(f"cannot open input file `{path}': {describe(error)}")
            return 1
    ctx.spend(1 + (len(data) >> 8))
    out, failed = _converted(data, decoder, encoder, how.upper(), dropped=options.has("c") or "IGNORE" in how.upper())
    output = options.value("o")
    (ctx.stdout if output is None else ctx.create(output)).write(out)
    if failed is not None:
        ctx.err(f"illegal input sequence at position {failed}")
        return 1
    return 0


def _codec(ctx: Context, name: str, side: str) -> codecs.CodecInfo:
    if name.upper() in (*_KNOWN, ""):
        return codecs.lookup(name or "utf-8")
    ctx.err(f"conversion {side} `{name}' is not supported")
    ctx.stderr.write(b"Try `iconv --help' or `iconv --usage' for more information.\n")
    raise CommandExit(1)


def _converted(
    data: bytes, decoder: codecs.CodecInfo, encoder: codecs.CodecInfo, how: str, *, dropped: bool
) -> tuple[bytes, int | None]:
    """The text in the other set, as far as it can be told; and where it cannot."""
    failed: int | None = None
    try:
        text = decoder.decode(data, "ignore" if dropped else "strict")[0]
    except UnicodeDecodeError as error:
        failed = error.start
        text = decoder.decode(data[: error.start], "strict")[0]
    try:
        return encoder.encode(text, "strict")[0], failed
    except UnicodeEncodeError:
        pass
    out = []
    for at, character in enumerate(text):
        try:
            out.append(encoder.encode(character, "strict")[0])
        except UnicodeEncodeError:
            if "TRANSLIT" in how:
                out.append(encoder.encode(_plain(character), "replace")[0])
            elif not dropped:
                return b"".join(out), len(decoder.encode(text[:at], "strict")[0])
    return b"".join(out), failed


def _plain(character: str) -> str:
    """Its nearest neighbours in ASCII."""
    known = {"€": "EUR", "‘": "'", "’": "'", "“": '"', "”": '"', "–": "-", "—": "-", "…": "..."}
    bare = "".join(one for one in unicodedata.normalize("NFKD", character) if ord(one) < 128)
    return known.get(character, bare or "?")
