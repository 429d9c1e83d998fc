"""Options of builtins, and the two lines they answer a wrong one with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from runners.sim.commands.context import CommandExit

if TYPE_CHECKING:
    from runners.sim.shell.interpreter import Shell

USAGE: Mapping[str, str] = {
    "alias": "alias [-p] [name[=value] ... ]",
    "bg": "bg [job_spec ...]",
    "builtin": "builtin [shell-builtin [arg ...]]",
    "cd": "cd [-L|[-P [-e]] [-@]] [dir]",
    "command": "command [-pVv] command [arg ...]",
    "declare": "declare [-aAfFgiIlnrtux] [name[=value] ...] or declare -p [-aAfFilnrtux] [name ...]",
    "dirs": "dirs [-clpv] [+N] [-N]",
    "disown": "disown [-h] [-ar] [jobspec ... | pid ...]",
    "exec": "exec [-cl] [-a name] [command [argument ...]] [redirection ...]",
    "export": "export [-fn] [name[=value] ...] or export -p",
    "fg": "fg [job_spec]",
    "getopts": "getopts optstring name [arg ...]",
    "hash": "hash [-lr] [-p pathname] [-dt] [name ...]",
    "history": "history [-c] [-d offset] [n] or history -anrw [filename] or history -ps arg [arg...]",
    "jobs": "jobs [-lnprs] [jobspec ...] or jobs -x command [args]",
    "kill": "kill [-s sigspec | -n signum | -sigspec] pid | jobspec ... or kill -l [sigspec]",
    "local": "local [option] name[=value] ...",
    "mapfile": "mapfile [-d delim] [-n count] [-O origin] [-s count] [-t] [-u fd] [-C callback] [-c quantum] [array]",
    "popd": "popd [-n] [+N | -N]",
    "printf": "printf [-v var] format [arguments]",
    "pushd": "pushd [-n] [+N | -N | dir]",
    "pwd": "pwd [-LP]",
    "read": "read [-ers] [-a array] [-d delim] "
    "[-i text] [-n nchars] [-N nchars] [-p prompt] [-t timeout] [-u fd] [name ...]",
    "readarray": "readarray [-d delim] [-n count] "
    "[-O origin] [-s count] [-t] [-u fd] [-C callback] [-c quantum] [array]",
    "readonly": "readonly [-aAf] [name[=value] ...] or readonly -p",
    "set": "set [-abefhkmnptuvxBCEHPT] [-o option-name] [--] [-] [arg ...]",
    "shopt": "shopt [-pqsu] [-o] [optname ...]",
    "source": "source filename [arguments]",
    ".": ". filename [arguments]",
    "trap": "trap [-lp] [[arg] signal_spec ...]",
    "type": "type [-afptP] name [name ...]",
    "typeset": "typeset [-aAfFgiIlnrtux] name[=value] ... or typeset -p [-aAfFilnrtux] [name ...]",
    "ulimit": "ulimit [-SHabcdefiklmnpqrstuvxPRT] [limit]",
    "umask": "umask [-p] [-S] [mode]",
    "unalias": "unalias [-a] name [name ...]",
    "unset": "unset [-f] [-v] [-n] [name ...]",
    "wait": "wait [-fn] [-p var] [id ...]",
    "let": "let arg [arg ...]",
    "return": "return [n]",
}  # fmt: skip


def usage_error(shell: Shell, name: str, message: str) -> CommandExit:
    """Print the message and the usage; raise what comes back."""
    shell.error(f"{name}: {message}")
    show_usage(shell, name)
    return CommandExit(2)


def show_usage(shell: Shell, name: str) -> None:
    shell.write_error(f"{name}: usage: {USAGE.get(name, name)}\n")


def options(shell: Shell, argv: list[str], letters: str) -> tuple[list[tuple[str, str | None]], list[str]]:
    """getopt for builtins: (letter, value) pairs and the rest. A `+x` option (declare) comes as `+x`."""
    given: list[tuple[str, str | None]] = []
    index = 1
    while index < len(argv):
        word = argv[index]
        if word == "--":
            index += 1
            break
        plus = word.startswith("+") and "+" in letters
        if (not word.startswith("-") and not plus) or len(word) < 2:
            break
        if word == "--help":
            shell.out(f"{argv[0]}: {USAGE.get(argv[0], argv[0])}\n")
            raise CommandExit(2)
        index += 1
        position = 1
        while position < len(word):
            letter = word[position]
            position += 1
            at = letters.find(letter)
            if at < 0 or letter in ":+":
                raise shell.dialect.bad_option(shell, argv[0], word[0] + letter)
            if letters[at + 1 : at + 2] == ":":
                value = word[position:]
                if not value:
                    if index >= len(argv):
                        raise shell.dialect.bad_option(shell, argv[0], f"-{letter}", lacking=True)
                    value = argv[index]
                    index += 1
                given.append((letter, value))
                break
            given.append((f"+{letter}" if plus else letter, None))
    return given, argv[index:]
