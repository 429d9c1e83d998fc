"""What sed's commands do to the pattern space, the hold space and the output."""

from __future__ import annotations

from collections.abc import Mapping

from runners.sim.commands import children
from runners.sim.commands.sed_script.parsing import Command
from runners.sim.commands.sed_script.running import Action, Editor
from runners.sim.regexes import Match


def _substitute(editor: Editor, command: Command, _index: int) -> str | None:
    regex = editor.regex(command.regex)
    space = editor.space
    pieces: list[bytes] = []
    position = 0
    wanted = command.number or 1
    everything = "g" in command.flags
    changed = False
    editor.ctx.spend(len(space) >> 6)
    for count, match in enumerate(regex.iterate(space), 1):
        editor.ctx.spend(3)
        if count < wanted:
            continue
        pieces += [space[position : match.start], _filled(command.replacement, match)]
        position = match.end
        changed = True
        if not everything:
            break
    if not changed:
        return None
    editor.space = b"".join(pieces) + space[position:]
    editor.substituted = True
    if "e" in command.flags:
        editor.space = _output_of(editor, editor.space.decode("utf-8", "surrogateescape")).removesuffix(b"\n")
    if "p" in command.flags:
        editor.show(editor.space, editor.newline)
    if "w" in command.flags:
        editor.file(command.text).line(editor.space, editor.newline)
    return None


def _filled(replacement: tuple[str | int, ...], match: Match) -> bytes:
    out: list[bytes] = []
    case = once = ""
    for piece in replacement:
        if isinstance(piece, str) and piece.startswith("\0"):
            if piece[1] in "lu":
                once = piece[1]
            else:
                case = "" if piece[1] == "E" else piece[1]
            continue
        data = match.group(piece) if isinstance(piece, int) else piece.encode("utf-8", "surrogateescape")
        if case or once:
            text = data.decode("utf-8", "surrogateescape")
            text = text.upper() if case == "U" else text.lower() if case == "L" else text
            if once and text:
                text = (text[0].upper() if once == "u" else text[0].lower()) + text[1:]
                once = ""
            data = text.encode("utf-8", "surrogateescape")
        out.append(data)
    return b"".join(out)


def _transliterate(editor: Editor, command: Command, _index: int) -> None:
    text = editor.space.decode("utf-8", "surrogateescape")
    editor.space = b"".join(
        command.table.get(ord(char), char.encode("utf-8", "surrogateescape")) for char in text
    )  # fmt: skip


def _next(editor: Editor, _command: Command, _index: int) -> str | None:
    if editor.source.at_end(separate=False):
        return "quit" if not editor.quiet else "silent-quit"
    if not editor.quiet:
        editor.show(editor.space, editor.newline)
    editor.flush()
    line = editor.source.next()
    assert line is not None
    editor.space, editor.newline = line
    editor.number += 1
    return None


def _append_next(editor: Editor, _command: Command, _index: int) -> str | None:
    if editor.source.at_end(separate=False):
        return "end-of-input"
    editor.flush()
    line = editor.source.next()
    assert line is not None
    editor.space += editor.end + line[0]
    editor.newline = line[1]
    editor.number += 1
    return None


def _delete_first(editor: Editor, _command: Command, _index: int) -> str:
    head, newline, rest = editor.space.partition(b"\n")
    del head
    if not newline:
        return "delete"
    editor.space = rest
    return "restart"


def _change(editor: Editor, command: Command, index: int) -> str:
    in_range = command.second is not None and index in editor.ranges and not command.negated
    if not in_range:
        editor.out.text(command.text.encode("utf-8", "surrogateescape"))
    return "delete"


def _insert(editor: Editor, command: Command, _index: int) -> None:
    editor.out.text(command.text.encode("utf-8", "surrogateescape"))


def _append(editor: Editor, command: Command, _index: int) -> None:
    editor.appended.append(("text", command.text))


def _read(editor: Editor, command: Command, _index: int) -> None:
    editor.appended.append(("file", command.text))


def _write(editor: Editor, command: Command, _index: int) -> None:
    editor.file(command.text).line(editor.space, editor.newline)


def _write_first(editor: Editor, command: Command, _index: int) -> None:
    head, newline, _ = editor.space.partition(b"\n")
    editor.file(command.text).line(head, bool(newline) or editor.newline)


def _read_line(editor: Editor, command: Command, _index: int) -> None:
    editor.appended.append(("line", command.text))


def _output_of(editor: Editor, text: str) -> bytes:
    return children.shell_output(editor.ctx, text)[0]


def _execute(editor: Editor, command: Command, _index: int) -> None:
    """`e command` shows what the command writes; `e` alone runs the pattern space and takes its output instead."""
    if command.text:
        editor.out.text(_output_of(editor, command.text))
    else:
        editor.space = _output_of(editor, editor.space.decode("utf-8", "surrogateescape")).removesuffix(b"\n")


def _print(editor: Editor, _command: Command, _index: int) -> None:
    editor.show(editor.space, editor.newline)


def _print_first(editor: Editor, _command: Command, _index: int) -> None:
    head, newline, _ = editor.space.partition(b"\n")
    editor.show(head, bool(newline) or editor.newline)


def _line_number(editor: Editor, _command: Command, _index: int) -> None:
    editor.show(str(editor.number).encode())


def _delete(_editor: Editor, _command: Command, _index: int) -> str:
    return "delete"


def _get(editor: Editor, _command: Command, _index: int) -> None:
    editor.space, editor.newline = editor.hold, editor.hold_newline


def _get_append(editor: Editor, _command: Command, _index: int) -> None:
    editor.space += editor.end + editor.hold
    editor.newline = editor.hold_newline


def _keep(editor: Editor, _command: Command, _index: int) -> None:
    editor.hold, editor.hold_newline = editor.space, editor.newline


def _keep_append(editor: Editor, _command: Command, _index: int) -> None:
    editor.hold += editor.end + editor.space
    editor.hold_newline = editor.newline


def _exchange(editor: Editor, _command: Command, _index: int) -> None:
    editor.space, editor.hold = editor.hold, editor.space
    editor.newline, editor.hold_newline = editor.hold_newline, editor.newline


def _zap(editor: Editor, _command: Command, _index: int) -> None:
    editor.space = b""


def _file_name(editor: Editor, _command: Command, _index: int) -> None:
    editor.show(editor.source.name.encode("utf-8", "surrogateescape"))


def _quit(editor: Editor, command: Command, _index: int) -> str:
    editor.status = command.number or 0
    return "quit" if command.name == "q" else "silent-quit"


def _list(editor: Editor, command: Command, _index: int) -> None:
    shown: list[str] = []
    escapes = {7: "\\a", 8: "\\b", 9: "\\t", 10: "\\n", 11: "\\v", 12: "\\f", 13: "\\r", 92: "\\\\"}
    for byte in editor.space:
        shown.append(escapes.get(byte, chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}"))
    width = 70 if command.number is None else command.number
    line = ""
    for piece in shown:
        if width > 1 and len(line) + len(piece) > width - 1:
            editor.show((line + "\\").encode("utf-8", "surrogateescape"))
            line = ""
        line += piece
    editor.show((line + "$").encode("utf-8", "surrogateescape"))


ACTIONS: Mapping[str, Action] = {
    "s": _substitute, "y": _transliterate, "n": _next, "N": _append_next, "d": _delete, "D": _delete_first,
    "c": _change, "i": _insert, "a": _append, "r": _read, "w": _write, "p": _print, "P": _print_first,
    "=": _line_number, "g": _get, "G": _get_append, "h": _keep, "H": _keep_append, "x": _exchange, "z": _zap,
    "q": _quit, "Q": _quit, "l": _list, "F": _file_name,
    "e": _execute, "R": _read_line, "W": _write_first,
}  # fmt: skip
