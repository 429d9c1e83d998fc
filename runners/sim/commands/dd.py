"""dd: convert and copy a file."""

from __future__ import annotations

from runners.sim.commands.context import Context, Reader, Writer
from runners.sim.commands.inputs import describe, human, quoted, size
from runners.sim.commands.streams import Device, FileStream, open_file
from runners.sim.files.content import Content
from runners.sim.files.tree import fail

_BYTES_A_SECOND = 500e6


def main(ctx: Context) -> int:
    if ctx.args == ["--help"]:
        ctx.line("Usage: dd [OPERAND]...\n  or:  dd OPTION")
        return 0
    if ctx.args == ["--version"]:
        ctx.line("dd (coreutils) 9.1")
        return 0
    values: dict[str, str] = {}
    for word in ctx.args:
        key, equals, value = word.partition("=")
        if not equals or key not in (
            "if",
            "of",
            "bs",
            "ibs",
            "obs",
            "count",
            "skip",
            "seek",
            "conv",
            "status",
            "iflag",
            "oflag",
            "cbs",
        ):
            ctx.err(f"unrecognized operand ‘{word}’")
            ctx.stderr.write(b"Try 'dd --help' for more information.\n")
            return 1
        values[key] = value
    numbers: dict[str, int] = {}
    for key, default in (("bs", "512"), ("count", "-"), ("skip", "0"), ("seek", "0")):
        text = values.get(key, values.get("ibs", default) if key == "bs" else default)
        parsed = size(text) if text != "-" else -1
        if parsed is None or (key == "bs" and parsed == 0):
            ctx.die(f"invalid number: ‘{text}’")
        numbers[key] = parsed
    conversions = set(values.get("conv", "").split(","))
    flags = set(values.get("oflag", "").split(","))
    try:
        reader: Reader = ctx.open(values["if"]) if "if" in values else ctx.stdin
    except OSError as error:
        ctx.die(f"failed to open {quoted(values['if'])}: {describe(error)}")
    writer: Writer = ctx.stdout
    if "of" in values:
        try:
            if values["of"] in ("/dev/stdout", "/dev/stderr"):
                writer = ctx.create(values["of"])
            else:
                writer = open_file(
                    ctx.machine, ctx.files, values["of"], write=True, append="append" in flags,
                    truncate="notrunc" not in conversions and not numbers["seek"] and "append" not in flags,
                )  # fmt: skip
        except OSError as error:
            ctx.die(f"failed to open {quoted(values['of'])}: {describe(error)}")
    return _copy(ctx, values, numbers, conversions, reader, writer)


def _copy(
    ctx: Context, values: dict[str, str], numbers: dict[str, int], conversions: set[str], reader: Reader, writer: Writer
) -> int:
    block, count = numbers["bs"], numbers["count"]
    if numbers["skip"]:
        if isinstance(reader, FileStream):
            reader.offset = numbers["skip"] * block
        else:
            reader.read(numbers["skip"] * block)
    if numbers["seek"] and isinstance(writer, FileStream):
        writer.offset = numbers["seek"] * block
    full = partial = copied = 0
    problem: OSError | None = None
    if (
        isinstance(reader, Device)
        and reader.device == (1, 5)
        and isinstance(writer, FileStream)
        and count > 0
        and block * count > 65536
    ):
        full, copied, problem = _zeros(writer, block, count)
    else:
        while count < 0 or full + partial < count:
            ctx.spend(2 + (block >> 8))
            data = reader.read(block)
            if not data:
                break
            if len(data) == block:
                full += 1
            else:
                partial += 1
            if "ucase" in conversions or "lcase" in conversions:
                data = data.upper() if "ucase" in conversions else data.lower()
            try:
                writer.write(data)
            except OSError as error:
                if error.errno == 32:
                    raise
                problem = error
                break
            copied += len(data)
    seconds = copied / _BYTES_A_SECOND
    ctx.sleep(seconds)
    if problem is not None:
        ctx.err(f"error writing {quoted(values.get('of', 'standard output'))}: {describe(problem)}")
    if values.get("status") != "none":
        _report(ctx, full, partial, copied, seconds, problem is not None, values.get("status") == "noxfer")
    return int(problem is not None)


def _zeros(writer: FileStream, block: int, count: int) -> tuple[int, int, OSError | None]:
    """Zeros into a file at once, as many as the disk takes."""
    tree = writer.tree
    inode = tree.inodes[writer.inode]
    at = writer.content.size if writer.append else writer.offset
    room = tree.free(tree.mount_of(inode)).bytes + inode.blocks - at if tree.mount_of(inode).size else block * count
    copied = max(min(block * count, room), 0)
    head = inode.content.resized(at)
    tail = inode.content.size - at - copied
    content = head.concat(Content.filled(b"\0", copied))
    if tail > 0:
        content = content.concat(Content.of(inode.content.read(at + copied)))
    now = tree.clock.now
    tree.put(inode._replace(content=content._replace(program=None), mtime=now, ctime=now))
    writer.offset = at + copied
    return copied // block, copied, fail(28) if copied < block * count else None


def _report(ctx: Context, full: int, partial: int, copied: int, seconds: float, failed: bool, brief: bool) -> None:
    lines = [f"{full + failed}+{partial} records in", f"{full}+{partial} records out"]
    if not brief:
        elapsed = max(seconds, 0.000_12)
        decimal = human(copied, base=1000)
        binary = human(copied)
        sizes = f"{copied} byte{'' if copied == 1 else 's'}"
        if copied >= 1000:
            sizes += f" ({_unit(decimal, 'B')}{', ' + _unit(binary, 'iB') if copied >= 1024 else ''})"
        lines.append(f"{sizes} copied, {elapsed:.6g} s, {_unit(human(int(copied / elapsed), base=1000), 'B')}/s")
    ctx.stderr.write("".join(line + "\n" for line in lines).encode())


def _unit(text: str, suffix: str) -> str:
    return f"{text[:-1].removesuffix('.0')} {text[-1]}{suffix}" if text[-1:].isalpha() else f"{text} B"
