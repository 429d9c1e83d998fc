"""sed: a stream editor."""

from __future__ import annotations

from runners.sim.commands.context import Context
from runners.sim.commands.inputs import describe
from runners.sim.commands.options import parse
from runners.sim.commands.sed_script.actions import ACTIONS
from runners.sim.commands.sed_script.parsing import ScriptError, parse_script
from runners.sim.commands.sed_script.running import Editor, Source

_USAGE = """Usage: sed [OPTION]... {script-only-if-no-other-script} [input-file]...

  -n, --quiet, --silent
                 suppress automatic printing of pattern space
  -e script, --expression=script
                 add the script to the commands to be executed
  -f script-file, --file=script-file
                 add the contents of script-file to the commands to be executed
  -E, -r, --regexp-extended
                 use extended regular expressions in the script
                 (for portability use POSIX -E).
  -i[SUFFIX], --in-place[=SUFFIX]
                 edit files in place (makes backup if SUFFIX supplied)
  -s, --separate
                 consider files as separate rather than as a single
                 continuous long stream."""


def main(ctx: Context) -> int:
    options = parse(
        ctx, "ne:f:Eri::l:suzb",
        ["quiet/n", "silent/n", "expression=/e", "file=/f", "regexp-extended/E", "in-place=?/i", "separate/s",
         "unbuffered/u", "null-data/z", "posix", "debug", "follow-symlinks", "line-length=/l"],
        usage=_USAGE, version="GNU sed) 4.9",
    )  # fmt: skip
    pieces: list[str] = []
    for name, value in options.given:
        if name == "e":
            pieces.append(value or "")
        elif name == "f":
            try:
                pieces.append(ctx.open(value or "").read().decode("utf-8", "surrogateescape").removesuffix("\n"))
            except OSError as error:
                ctx.die(f"couldn't open file {value}: {describe(error)}")
    operands = list(options.operands)
    if not pieces:
        if not operands:
            ctx.stderr.write((_USAGE + "\n").encode("utf-8", "surrogateescape"))
            return 1
        pieces = [operands.pop(0)]
    script = "\n".join(pieces)
    quiet = options.has("n")
    if script.startswith("#n\n"):
        quiet = True
    try:
        commands = parse_script(script, extended=options.has("E", "r"))
    except ScriptError as error:
        if error.at is None:
            ctx.die(str(error), 4)
        ctx.die(f"-e expression #1, char {error.at}: {error}")
    editor = Editor(ctx, commands, ACTIONS, quiet=quiet, end=b"\0" if options.has("z") else b"\n")
    if not options.has("i"):
        return editor.run(Source(ctx, operands or ["-"], editor.end), ctx.stdout, separate=options.has("s"))
    suffix = next((value for name, value in options.given if name == "i" and value), None)
    if options.has("follow-symlinks"):
        operands = [ctx.files.real_path(name) if ctx.files.exists(name) else name for name in operands]
    return _in_place(ctx, editor, operands, suffix)


def _in_place(ctx: Context, editor: Editor, names: list[str], suffix: str | None) -> int:
    """Edit each file into a new one that takes its name: hard links part, owner and mode stay."""
    status = 0
    for name in names:
        try:
            inode = ctx.files.stat(name)
            if not inode.is_file:
                ctx.err(f"couldn't edit {name}: not a regular file")
                status = 4
                continue
            data = ctx.files.read(name)
        except OSError as error:
            ctx.err(f"can't read {name}: {describe(error)}")
            status = 2
            continue
        folder, _, base = name.rpartition("/")
        temporary = f"{folder + '/' if folder else ''}sed{_letters(ctx)}"
        try:
            ctx.files.write(temporary, b"")
            output = ctx.create(temporary)
        except OSError as error:
            ctx.err(f"couldn't open temporary file {temporary}: {describe(error)}")
            return 4
        source = Source(ctx, [name], editor.end, data=data)
        try:
            ended = editor.run(source, output, separate=True)
        except OSError as error:
            ctx.files.unlink(temporary)
            ctx.err(f"couldn't flush {temporary}: {describe(error)}")
            return 4
        if suffix:
            backup = suffix.replace("*", base) if "*" in suffix else base + suffix
            ctx.files.rename(name, f"{folder + '/' if folder else ''}{backup}" if "/" not in backup else backup)
        tree = ctx.machine.files
        made = ctx.files.stat(temporary)
        tree.put(made._replace(mode=inode.mode, uid=inode.uid, gid=inode.gid, acl=inode.acl))
        ctx.files.rename(temporary, name)
        status = status or ended
        if editor.quit:
            break
    return status


def _letters(ctx: Context) -> str:
    """The random tail of a temporary name."""
    value = int(ctx.machine.random("mkstemp") * 62**6)
    alphabet = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
    return "".join(alphabet[value // 62**power % 62] for power in range(6))
