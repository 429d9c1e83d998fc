"""getopts. Its place inside a word of options is kept in a hidden variable, as OPTIND counts words only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runners.formats.shell.grammar.words import NAME
from runners.sim.shell.builtins.arguments import show_usage, usage_error
from runners.sim.shell.session import Variable
from runners.text import is_digits

if TYPE_CHECKING:
    from runners.sim.shell.interpreter import Shell


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
    whole = optind.partition(":")[0]
    index = int(whole) if is_digits(whole) and int(whole) > 0 else 1
    hidden = session.variables.get("_getopts")
    position = 1
    if hidden is not None and isinstance(hidden.value, str):
        known, _, at = hidden.value.partition(":")
        if known == optind:
            position = int(at)
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
