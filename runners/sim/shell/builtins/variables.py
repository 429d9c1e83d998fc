"""export, declare and their like; read, mapfile, getopts, let, unset."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from runners.sim.budget import BudgetExceeded
from runners.sim.commands.streams import PipeReader
from runners.sim.shell.builtins.arguments import options, show_usage, usage_error
from runners.sim.shell.expansion import ArrayArgument
from runners.sim.shell.grammar.words import NAME
from runners.sim.shell.parameters import quote
from runners.sim.shell.session import Variable
from runners.sim.shell.signals import ExpansionError

if TYPE_CHECKING:
    from runners.sim.shell.interpreter import Shell

_ASSIGNED = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(?:\[(.*?)\])?(?:(\+?=)(.*))?", re.DOTALL)
_SAFE = re.compile(r"[\w@%+=:,./-]+", re.ASCII)


def _double(text: str) -> str:
    """As declare -p writes a value."""
    if any(ord(char) < 32 or char == "\x7f" for char in text):
        return quote(text)
    return '"' + re.sub(r'(["\\$`])', r"\\\1", text) + '"'


def _attributes(variable: Variable) -> str:
    letters = variable.kind + ("i" if variable.integer else "") + ("n" if variable.nameref else "")
    letters += ("r" if variable.readonly else "") + ("x" if variable.exported else "") + variable.case
    return "-" + (letters or "-")


def describe(name: str, variable: Variable) -> str:
    """The line of `declare -p`."""
    start = f"declare {_attributes(variable)} {name}"
    if variable.value is None:
        return start
    if isinstance(variable.value, dict):
        items: Any = variable.value
        keys = sorted(items) if variable.kind == "a" else list(items)
        inside = " ".join(f"[{_key(str(key))}]={_double(items[key])}" for key in keys)
        return f"{start}=({inside}{' ' if variable.kind == 'A' and keys else ''})"
    return f"{start}={_double(variable.value)}"


def _key(text: str) -> str:
    return text if _SAFE.fullmatch(text) else _double(text)


def _mark(shell: Shell, argv: list[str], rest: list[str], change: Any) -> int:
    """Assign and change the attributes of each argument; `change(variable)` sets them."""
    session = shell.session
    status = 0
    for word in rest:
        if isinstance(word, ArrayArgument):
            shell.assign_array(word.assignment)
            variable = session.variables[word.assignment.name].copy()
            session.variables[word.assignment.name] = variable
            change(variable)
            continue
        match = _ASSIGNED.fullmatch(word)
        if match is None:
            shell.error(f"{argv[0]}: `{word}': not a valid identifier")
            status = 1
            continue
        name, subscript, mark, value = match.groups()
        if mark is not None:
            shell.assign(name, value, subscript=subscript, append=mark == "+=")
        known = session.variables.get(name)
        variable = known.copy() if known is not None else Variable(None)
        change(variable)
        session.variables[name] = variable
    session.environment_cache = None
    return status


def export(shell: Shell, argv: list[str]) -> int:
    given, rest = options(shell, argv, "fnp")
    flags = {letter for letter, _ in given}
    if not rest:
        for name, variable in shell.session.exported():
            shell.out(describe(name, variable) + "\n")
        return 0
    if "f" in flags:
        missing = [name for name in rest if name not in shell.session.functions]
        for name in missing:
            shell.error(f"export: {name}: not a function")
        return int(bool(missing))

    def change(variable: Variable) -> None:
        variable.exported = "n" not in flags

    return _mark(shell, argv, rest, change)


def readonly(shell: Shell, argv: list[str]) -> int:
    given, rest = options(shell, argv, "aAfp")
    if not rest:
        for name in sorted(shell.session.variables):
            if shell.session.variables[name].readonly:
                shell.out(describe(name, shell.session.variables[name]) + "\n")
        return 0
    flags = {letter for letter, _ in given}

    def change(variable: Variable) -> None:
        variable.readonly = True
        if "a" in flags and not variable.kind:
            variable.kind = "a"

    return _mark(shell, argv, rest, change)


def local(shell: Shell, argv: list[str]) -> int:
    if not shell.function_depth:
        shell.error("local: can only be used in a function")
        return 1
    given, rest = options(shell, argv, "aAilnrtuxp+")
    return _declare(shell, argv, {letter for letter, _ in given}, rest, True)


def declare(shell: Shell, argv: list[str]) -> int:
    given, rest = options(shell, argv, "aAfFgiIlnprtux+")
    flags = {letter for letter, _ in given}
    session = shell.session
    if flags & {"f", "F"}:
        return _functions(shell, rest, names_only="F" in flags)
    if "p" in flags or not rest:
        return _print(shell, argv, flags, rest)
    del session
    return _declare(shell, argv, flags, rest, bool(shell.function_depth) and "g" not in flags)


def _functions(shell: Shell, names: list[str], *, names_only: bool) -> int:
    functions = shell.session.functions
    status = 0
    for name in names or sorted(functions):
        if name not in functions:
            status = 1
        elif names_only:
            shell.out(f"{name}\n" if names else f"declare -f {name}\n")
        else:
            shell.out(functions[name].text + "\n")
    return status


def _print(shell: Shell, argv: list[str], flags: set[str], names: list[str]) -> int:
    variables = shell.session.variables
    status = 0
    for name in names or sorted(variables):
        variable = variables.get(name)
        if variable is None:
            shell.error(f"{argv[0]}: {name}: not found")
            status = 1
            continue
        wanted = {"x": variable.exported, "r": variable.readonly, "i": variable.integer, "a": variable.kind == "a"}
        wanted |= {"A": variable.kind == "A"}
        if names or all(wanted.get(flag, True) for flag in flags):
            if "p" in flags or flags:
                shell.out(describe(name, variable) + "\n")
            elif isinstance(variable.value, str):
                shown = (
                    variable.value if _SAFE.fullmatch(variable.value) or not variable.value else quote(variable.value)
                )
                shell.out(f"{name}={shown}\n")
    return status


def _declare(shell: Shell, argv: list[str], flags: set[str], rest: list[str], is_local: bool) -> int:
    session = shell.session
    status = 0
    kind = "A" if "A" in flags else "a" if "a" in flags else ""
    for word in rest:
        match = _ASSIGNED.fullmatch(word)
        if match is None:
            shell.error(f"{argv[0]}: `{word}': not a valid identifier")
            status = 1
            continue
        name, subscript, mark, value = match.groups()
        if is_local and name not in session.saved[-1]:
            session.saved[-1][name] = session.variables.get(name)
            known = session.variables.get(name)
            if known is not None and known.readonly:
                shell.error(f"{argv[0]}: {name}: readonly variable")
                status = 1
                continue
            fresh = Variable(None)
            session.variables[name] = fresh
        known = session.variables.get(name)
        variable = known.copy() if known is not None else Variable(None)
        _apply_flags(variable, flags, kind)
        session.variables[name] = variable
        try:
            if isinstance(word, ArrayArgument):
                shell.assign_array(word.assignment, kind=kind)
            elif mark is not None and variable.nameref:
                variable.value = value
            elif mark is not None and value.startswith("(") and value.endswith(")") and kind:
                # declare -A m="(…)" as eval would read it.
                shell.run_text(f"{name}{mark}{value}")
            elif mark is not None:
                shell.assign(name, value, subscript=subscript, append=mark == "+=")
        except ExpansionError as problem:
            shell.error(f"{argv[0]}: {problem.message}" if "readonly" in problem.message else problem.message)
            status = 1
            continue
        final = session.variables[name].copy()
        final.readonly = final.readonly or "r" in flags
        session.variables[name] = final
    session.environment_cache = None
    return status


def _apply_flags(variable: Variable, flags: set[str], kind: str) -> None:
    if kind and variable.kind != kind:
        variable.kind = kind
        old = variable.value
        if isinstance(old, str):
            variable.value = {0: old} if kind == "a" else {"0": old}
        elif old is not None and not isinstance(old, dict):
            variable.value = None
    for flag, attribute in (("i", "integer"), ("x", "exported"), ("n", "nameref")):
        if flag in flags:
            setattr(variable, attribute, True)
        if f"+{flag}" in flags:
            setattr(variable, attribute, False)
    if "u" in flags or "l" in flags:
        variable.case = "u" if "u" in flags else "l"


def unset(shell: Shell, argv: list[str]) -> int:
    given, rest = options(shell, argv, "fvn")
    flags = {letter for letter, _ in given}
    session = shell.session
    status = 0
    for word in rest:
        match = re.fullmatch(r"([A-Za-z_][A-Za-z0-9_]*)(?:\[(.*)\])?", word, re.DOTALL)
        if match is None:
            if "f" in flags:
                session.functions.pop(word, None)
                continue
            shell.error(f"unset: `{word}': not a valid identifier")
            status = 1
            continue
        name, subscript = match.groups()
        variable = session.variables.get(name)
        if "f" in flags or (variable is None and "v" not in flags):
            session.functions.pop(name, None)
            continue
        if variable is None:
            continue
        if variable.readonly:
            shell.error(f"unset: {name}: cannot unset: readonly variable")
            status = 1
            continue
        if variable.nameref and "n" not in flags and isinstance(variable.value, str):
            session.unset(variable.value)
            continue
        if subscript is not None and isinstance(variable.value, dict):
            if subscript in ("@", "*"):
                session.unset(name)
                continue
            key: int | str = subscript if variable.kind == "A" else shell.expander.arithmetic(subscript)
            if isinstance(key, int) and key < 0:
                key += max(variable.value, default=-1) + 1
            session.elements(name).pop(key, None)
            continue
        session.unset(name)
    return status


def let(shell: Shell, argv: list[str]) -> int:
    if len(argv) < 2:
        shell.error("let: expression expected")
        return 1
    value = 0
    for text in argv[1:]:
        try:
            value = shell.expander.arithmetic(text)
        except ExpansionError as problem:
            shell.error(f"let: {problem.message}")
            return 1
    return int(value == 0)


# -- read


def _read_line(
    shell: Shell, fd: int, delimiter: bytes, count: int | None, raw: bool, exact: bool
) -> tuple[str, list[bool], bool]:
    """The characters read, whether each was escaped, and whether the delimiter was seen."""
    stream = shell.fds.get(fd)
    if stream is None:
        raise ExpansionError(f"read: {fd}: invalid file descriptor: Bad file descriptor")
    if count is None and delimiter == b"\n":
        data = stream.readline()
        ended = data.endswith(b"\n")
        while not raw and ended and _odd_backslashes(data[:-1]):
            more = stream.readline()
            data += more
            ended = more.endswith(b"\n")
        shell.spend(1 + (len(data) >> 6))
        text = (data[:-1] if ended else data).decode("utf-8", "surrogateescape")
    else:
        pieces = bytearray()
        ended = False
        while count is None or len(pieces.decode("utf-8", "ignore")) < count:
            byte = stream.read(1)
            shell.spend(1)
            if not byte:
                break
            if byte == delimiter and not exact:
                ended = True
                break
            pieces += byte
            if len(pieces) > 16 << 20:
                raise BudgetExceeded
        else:
            ended = True
        text = pieces.decode("utf-8", "surrogateescape")
    text = text.replace("\0", "")
    if raw or "\\" not in text:
        return text, [False] * len(text), ended
    out: list[str] = []
    escaped: list[bool] = []
    index = 0
    while index < len(text):
        if text[index] == "\\" and index + 1 < len(text):
            index += 1
            if text[index] != "\n":
                out.append(text[index])
                escaped.append(True)
        elif text[index] != "\\":
            out.append(text[index])
            escaped.append(False)
        index += 1
    return "".join(out), escaped, ended


def _odd_backslashes(data: bytes) -> bool:
    return (len(data) - len(data.rstrip(b"\\"))) % 2 == 1


def split_fields(text: str, escaped: list[bool], ifs: str, limit: int | None) -> list[str]:
    """Split as read does: at most `limit` fields, the last one taking the rest."""
    white = {char for char in ifs if char in " \t\n"}

    def is_white(index: int) -> bool:
        return text[index] in white and not escaped[index]

    def is_delimiter(index: int) -> bool:
        return text[index] in ifs and not escaped[index]

    size = len(text)
    position = 0
    while position < size and is_white(position):
        position += 1
    fields: list[str] = []
    while position < size:
        if limit is not None and len(fields) == limit - 1:
            end = size
            while end > position and is_white(end - 1):
                end -= 1
            rest = text[position:end]
            # One trailing delimiter that is no blank goes, if it is the only one.
            if rest and is_delimiter(end - 1) and not any(is_delimiter(at) for at in range(position, end - 1)):
                rest = rest[:-1]
            fields.append(rest)
            return fields
        start = position
        while position < size and not is_delimiter(position):
            position += 1
        fields.append(text[start:position])
        while position < size and is_white(position):
            position += 1
        if position < size and is_delimiter(position) and text[position] not in white:
            position += 1
            while position < size and is_white(position):
                position += 1
    return fields


def read(shell: Shell, argv: list[str]) -> int:
    given, names = options(shell, argv, "ersa:d:i:n:N:p:t:u:")
    flags = dict(given)
    session = shell.session
    for name in names:
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*(\[.*\])?", name):
            shell.error(f"read: `{name}': not a valid identifier")
            return 1
    fd_text = flags.get("u") or ""
    fd = int(fd_text) if fd_text.isdigit() else 0
    delimiter = ((flags["d"] or "\0")[:1] if "d" in flags else "\n").encode("utf-8", "surrogateescape")[:1]
    count = None
    for letter in ("n", "N"):
        if letter in flags:
            text = flags[letter] or ""
            if not text.isdigit():
                shell.error(f"read: {text}: invalid number")
                return 1
            count = int(text)
    if "t" in flags:
        stream = shell.fds.get(fd)
        try:
            seconds = float(flags["t"] or 0)
        except ValueError:
            shell.error(f"read: {flags['t']}: invalid timeout specification")
            return 1
        if isinstance(stream, PipeReader) and not stream.pipe.can_read():
            wake = shell.machine.clock.now + seconds
            clock, pipe = shell.machine.clock, stream.pipe
            shell.hub.wait(lambda: pipe.can_read() or clock.now >= wake, wake)
            if not pipe.can_read():
                return 142
    try:
        line, escaped, ended = _read_line(shell, fd, delimiter, count, "r" in flags, "N" in flags)
    except OSError as error:
        shell.error(f"read: read error: {fd}: {error.strerror}")
        return 1
    except ExpansionError as problem:
        shell.error(problem.message)
        return 1
    ifs = session.get("IFS")
    ifs = " \t\n" if ifs is None else ifs
    array = flags.get("a")
    if array:
        fields = split_fields(line, escaped, ifs, None)
        session.variables[array] = Variable(dict(enumerate(fields)), kind="a")
    elif not names:
        shell.assign("REPLY", line)
    elif "N" in flags:
        shell.assign(names[0], line)
        for name in names[1:]:
            shell.assign(name, "")
    else:
        fields = split_fields(line, escaped, ifs, len(names))
        for index, name in enumerate(names):
            base, bracket, inner = name.partition("[")
            value = fields[index] if index < len(fields) else ""
            shell.assign(base, value, subscript=inner[:-1] if bracket else None)
    return 0 if ended else 1


def mapfile(shell: Shell, argv: list[str]) -> int:
    given, rest = options(shell, argv, "td:n:O:s:u:C:c:")
    flags = dict(given)
    name = rest[0] if rest else "MAPFILE"
    if not NAME.fullmatch(name):
        shell.error(f"{argv[0]}: `{name}': not a valid identifier")
        return 1
    numbers = {}
    for letter in ("n", "O", "s", "u"):
        text = flags.get(letter) or "0"
        if not text.isdigit():
            shell.error(f"{argv[0]}: {text}: invalid line count")
            return 1
        numbers[letter] = int(text)
    stream = shell.fds.get(numbers["u"])
    if stream is None:
        shell.error(f"{argv[0]}: {numbers['u']}: invalid file descriptor: Bad file descriptor")
        return 1
    delimiter = ((flags["d"] or "\0")[:1] if "d" in flags else "\n").encode()
    items: list[bytes] = []
    if delimiter == b"\n":
        for line in stream.lines():
            items.append(line)
            shell.spend(1)
            if numbers["n"] and len(items) >= numbers["n"] + numbers["s"]:
                break
    else:
        data = stream.read()
        pieces = data.split(delimiter)
        items = [piece + delimiter for piece in pieces[:-1]] + ([pieces[-1]] if pieces[-1] else [])
    items = items[numbers["s"] :]
    if numbers["n"]:
        items = items[: numbers["n"]]
    if "t" in flags:
        items = [item.removesuffix(delimiter) for item in items]
    values = {
        index + numbers["O"]: item.replace(b"\0", b"").decode("utf-8", "surrogateescape")
        for index, item in enumerate(items)
    }
    if numbers["O"]:
        old = shell.session.variables.get(name)
        if old is not None and isinstance(old.value, dict) and old.kind == "a":
            values = {**old.value, **values}
    shell.session.variables[name] = Variable(values, kind="a")
    return 0


def getopts(shell: Shell, argv: list[str]) -> int:
    if len(argv) < 3:
        show_usage(shell, "getopts")
        return 2
    session = shell.session
    spec, name = argv[1], argv[2]
    if not NAME.fullmatch(name):
        raise usage_error(shell, "getopts", f"`{name}': not a valid identifier")
    words = argv[3:] if len(argv) > 3 else session.positional
    optind = session.get("OPTIND") or "1"
    whole, _, inside = optind.partition(":")
    index = int(whole) if whole.isdigit() and int(whole) > 0 else 1
    hidden = session.variables.get("_getopts")
    position = 1
    if hidden is not None and isinstance(hidden.value, str):
        known, _, at = hidden.value.partition(":")
        if known == optind:
            position = int(at)
    del inside
    silent = spec.startswith(":")
    word = words[index - 1] if index <= len(words) else None
    if word is None or not word.startswith("-") or word == "-":
        shell.assign(name, "?")
        session.unset("_getopts")
        session.set("OPTIND", str(index))
        return 1
    if word == "--":
        session.set("OPTIND", str(index + 1))
        shell.assign(name, "?")
        return 1
    letter = word[position] if position < len(word) else ""
    place = spec.find(letter) if letter and letter != ":" else -1
    position += 1
    session.unset("OPTARG")
    following, next_position = (index + 1, 1) if position >= len(word) else (index, position)
    found = letter
    if place < 0:
        found = "?"
        if silent:
            session.set("OPTARG", letter)
        elif session.get("OPTERR") != "0":
            shell.write_error(f"{session.name}: illegal option -- {letter}\n")
    elif spec[place + 1 : place + 2] == ":":
        if position < len(word):
            session.set("OPTARG", word[position:])
            following, next_position = index + 1, 1
        elif index < len(words):
            session.set("OPTARG", words[index])
            following, next_position = index + 2, 1
        else:
            following, next_position = index + 1, 1
            found = ":" if silent else "?"
            if silent:
                session.set("OPTARG", letter)
            else:
                shell.write_error(f"{session.name}: option requires an argument -- {letter}\n")
    session.set("OPTIND", str(following))
    if next_position > 1:
        session.variables["_getopts"] = Variable(f"{following}:{next_position}")
    else:
        session.unset("_getopts")
    shell.assign(name, found)
    return 0
