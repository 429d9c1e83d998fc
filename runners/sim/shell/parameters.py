"""What `$name` and `${name…}` stand for."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from runners.formats.shell.ast import Parameter, Word
from runners.formats.shell.grammar.words import NAME
from runners.sim.shell.operators import change_case, replace, strip_suffix, transform
from runners.sim.shell.patterns import matcher
from runners.sim.shell.signals import ExpansionError
from runners.text import is_digits

if TYPE_CHECKING:
    from runners.sim.shell.expansion import Expander

Value = str | list[str]
_COMPUTED_ARRAYS = frozenset({"FUNCNAME", "PIPESTATUS", "BASH_SOURCE", "DIRSTACK", "GROUPS", "BASH_LINENO"})
_LIST_DEFAULTS = frozenset({":-", "-", ":+", "+", ":=", "=", ":?", "?"})


class Parameters:
    """Reads parameters and applies the operators of `${…}`."""

    __slots__ = ("expander",)

    def __init__(self, expander: Expander) -> None:
        self.expander = expander

    # -- reading

    def special(self, name: str) -> str | None:
        """`$?`, `$1`, `$RANDOM` and their like; None if `name` is none of these or unset."""
        shell = self.expander.shell
        session = shell.session
        if is_digits(name):
            number = int(name)
            if number == 0:
                return session.name
            return session.positional[number - 1] if number <= len(session.positional) else None
        if name == "?":
            return str(session.status)
        if name == "#":
            return str(len(session.positional))
        if name == "$":
            return str(session.home_pid)
        if name == "!":
            return str(session.last_background) if session.last_background is not None else None
        if name == "-":
            return session.flags()
        if name == "_":
            return session.last_argument
        return None

    def _dynamic(self, name: str) -> str | None:
        """Variables that are computed when read."""
        shell = self.expander.shell
        session = shell.session
        if name not in shell.dialect.computed:
            return None
        if name == "RANDOM":
            return str(session.next_random())
        if name == "SRANDOM":
            return str(session.next_random() << 17 | session.next_random() << 2)
        if name == "SECONDS":
            return str(int(shell.machine.clock.now - session.started) + session.seconds_base)
        if name == "LINENO":
            return str(max(shell.line, 1))
        if name == "BASHPID":
            return str(session.pid)
        if name == "EPOCHSECONDS":
            return str(int(shell.machine.clock.now))
        if name == "EPOCHREALTIME":
            return f"{shell.machine.clock.now:.6f}"
        if name == "HOSTNAME":
            return shell.hostname()
        if name == "BASH_COMMAND":
            return ""
        if name == "BASH_SUBSHELL":
            return str(shell.subshell_depth)
        if name == "SHELLOPTS":
            return ":".join(sorted(session.options))
        return None

    def element(self, name: str, subscript: str | None) -> str | None:
        """The text of `name` or `name[subscript]`; None when unset."""
        session = self.expander.shell.session
        variable = session.variables.get(name)
        if variable is not None and variable.nameref and isinstance(variable.value, str):
            target, _, inner = variable.value.partition("[")
            if target == name:
                return None
            return self.element(target, inner[:-1] if inner else subscript)
        if variable is None:
            if name in _COMPUTED_ARRAYS and name in self.expander.shell.dialect.computed:
                items = self.items(name)
                if subscript is None:
                    return items[0] if items else None
                index = self.expander.arithmetic(subscript)
                return items[index] if -len(items) <= index < len(items) else None
            if subscript is not None:
                return None
            found = self.special(name)
            return found if found is not None else self._dynamic(name)
        if subscript is None:
            return variable.scalar()
        value = variable.value
        if not isinstance(value, dict):
            return value if self.expander.arithmetic(subscript) in (0, -1) else None
        if variable.kind == "A":
            return value.get(subscript)
        index = self.expander.arithmetic(subscript)
        if index < 0:
            index += max(value, default=-1) + 1
            if index < 0:
                raise ExpansionError(f"{name}: bad array subscript")
        return value.get(index)

    def items(self, name: str) -> list[str]:
        """All elements of an array (a plain variable is an array of one), in order."""
        shell = self.expander.shell
        session = shell.session
        if name in ("@", "*"):
            return session.positional
        variable = session.variables.get(name)
        if variable is None:
            if name == "PIPESTATUS":
                return [str(status) for status in session.pipe_status]
            if name == "FUNCNAME":
                return [*reversed(session.frames), *(["main"] if session.frames else [])]
            if name == "BASH_SOURCE":
                return [session.source_name] if session.mode == "script" else []
            if name == "DIRSTACK":
                return [session.cwd, *session.directories]
            if name == "GROUPS":
                return [str(gid) for gid in sorted({session.cred.gid, *session.cred.groups})]
            single = self._dynamic(name)
            return [single] if single is not None else []
        if variable.nameref and isinstance(variable.value, str):
            return self.items(variable.value.removesuffix("[@]"))
        value = variable.value
        if isinstance(value, dict):
            if variable.kind == "a":
                return [value[key] for key in sorted(value)]
            return list(value.values())
        return [value] if value is not None else []

    def keys(self, name: str) -> list[str]:
        variable = self.expander.shell.session.variables.get(name)
        if variable is None:
            return [str(index) for index in range(len(self.items(name)))]
        if isinstance(variable.value, dict):
            return [str(key) for key in (sorted(variable.value) if variable.kind == "a" else variable.value)]
        return ["0"] if variable.value is not None else []

    # -- ${…}

    def _whole(self, part: Parameter) -> str | None:
        """`@` or `*` when the parameter is a list, else None."""
        if part.name in ("@", "*"):
            return part.name
        if part.subscript is not None and part.subscript.literal in ("@", "*"):
            return part.subscript.literal
        return None

    def _subscript(self, part: Parameter) -> str | None:
        return self.expander.text(part.subscript) if part.subscript is not None else None

    def _current(self, part: Parameter) -> str | None:
        """The scalar value, through `!`; None when unset."""
        subscript = self._subscript(part)
        if not part.indirect:
            if subscript is None and not self.expander.shell.session.variables.get(part.name):
                special = self.special(part.name)
                if special is not None:
                    return special
            return self.element(part.name, subscript)
        variable = self.expander.shell.session.variables.get(part.name)
        if variable is not None and variable.nameref:
            return variable.value if isinstance(variable.value, str) else None
        target = self.element(part.name, subscript)
        if not target:
            raise ExpansionError(
                f"{part.name}: invalid indirect expansion" if target is None else f"{target}: invalid variable name"
            )
        name, bracket, inner = target.partition("[")
        if not NAME.fullmatch(name) and not is_digits(name) and name not in "@*#?-$!":
            raise ExpansionError(f"{target}: invalid variable name")
        if name in ("@", "*"):
            return " ".join(self.items(name))
        return self.element(name, inner.rstrip("]") if bracket else None)

    def default_word(self, part: Parameter) -> Word | None:
        """For `${x:-word}` and its family: the word that takes the parameter's place, if it does."""
        operator = part.operator
        if operator not in _LIST_DEFAULTS:
            return None
        whole = self._whole(part)
        if whole is not None:
            items = self.items(part.name)
            present = bool(items) if not operator.startswith(":") else bool("".join(items) or len(items) > 1)
        else:
            current = self._current(part)
            present = current is not None and (current != "" or not operator.startswith(":"))
        kind = operator[-1]
        assert part.argument is not None
        if kind == "+":
            return part.argument if present else Word((), "")
        if present:
            return None
        if kind == "?":
            given = self.expander.text(part.argument)
            message = given or ("parameter null or not set" if operator == ":?" else "parameter not set")
            or_null = " or null" if operator == ":?" else ""
            raise ExpansionError(
                f"{part.name}: {message}", fatal=True, status=127,
                dash=f"{part.name}: {given or f'parameter not set{or_null}'}",
            )  # fmt: skip
        if kind == "=":
            if not NAME.fullmatch(part.name):
                raise ExpansionError(f"${part.name}: cannot assign in this way")
            value = self.expander.text(part.argument)
            self.expander.shell.assign(part.name, value, subscript=self._subscript(part))
            return None
        return part.argument

    def value(self, part: Parameter) -> Value:
        """The value, after its operator. A list for `$@`, `${a[@]}` (and unquoted `$*`)."""
        whole = self._whole(part)
        operator = part.operator
        if operator.startswith("prefix"):
            names = sorted(name for name in self.expander.shell.session.variables if name.startswith(part.name))
            return self._join(names, operator[-1], part.quoted)
        if whole is not None:
            return self._list_value(part, whole)
        if operator == "length":
            if part.name in ("@", "*"):
                return str(len(self.items(part.name)))
            current = self._current(part)
            if current is None:
                self._check_set(part)
            return str(len(current or ""))
        current = self._current(part)
        if current is None:
            if operator not in _LIST_DEFAULTS and operator != "@a":
                self._check_set(part)
            if operator in ("@Q", "@A", "@a"):
                return ""
            current = ""
        if not operator or operator in _LIST_DEFAULTS:
            return current
        if operator == ":":
            return self._substring(part, current)
        return self._operation(part)(current)

    def _check_set(self, part: Parameter) -> None:
        session = self.expander.shell.session
        if "nounset" in session.options and part.name not in ("@", "*"):
            label = part.name if part.subscript is None else f"{part.name}[{self._subscript(part)}]"
            raise ExpansionError(
                f"{label}: unbound variable", fatal=True, status=127, dash=f"{label}: parameter not set"
            )

    def _list_value(self, part: Parameter, whole: str) -> Value:
        operator = part.operator
        if part.indirect:
            return self._join(self.keys(part.name), whole, part.quoted)
        items = self.items(part.name)
        if operator == "length":
            return str(len(items))
        if operator == ":":
            items = self._slice(part, items)
        elif operator in ("@k", "@K"):
            items = [piece for pair in zip(self.keys(part.name), items, strict=True) for piece in pair]
        elif operator and operator not in _LIST_DEFAULTS:
            change = self._operation(part)
            items = [change(item) for item in items]
        return self._join(items, whole, part.quoted)

    def _join(self, items: list[str], whole: str, quoted: bool) -> Value:
        if whole == "*" and quoted:
            ifs = self.expander.shell.session.get("IFS")
            return (" " if ifs is None else ifs[:1]).join(items)
        return list(items)

    def _number(self, word: Word) -> int:
        return self.expander.arithmetic(self.expander.text(word))

    def _substring(self, part: Parameter, text: str) -> str:
        assert part.argument is not None
        offset = self._number(part.argument)
        size = len(text)
        start = offset if offset >= 0 else size + offset
        if start < 0 or start > size:
            return ""
        if part.second is None:
            return text[start:]
        length = self._number(part.second)
        end = start + length if length >= 0 else size + length
        if end < start:
            raise ExpansionError(f"{self.expander.text(part.second).strip()}: substring expression < 0")
        return text[start:end]

    def _slice(self, part: Parameter, items: list[str]) -> list[str]:
        assert part.argument is not None
        offset = self._number(part.argument)
        if part.name in ("@", "*"):
            items = [self.expander.shell.session.name, *items]
        else:
            variable = self.expander.shell.session.variables.get(part.name)
            if variable is not None and variable.kind == "a" and isinstance(variable.value, dict):
                keys = sorted(variable.value)
                if offset < 0:
                    offset += (int(keys[-1]) + 1) if keys else 0
                items = [variable.value[key] for key in keys if int(key) >= offset]
                offset = 0 if offset >= 0 else len(items)
        start = offset if offset >= 0 else len(items) + offset
        if start < 0:
            return []
        if part.second is None:
            chosen = items[start:]
        else:
            length = self._number(part.second)
            if length < 0:
                raise ExpansionError(f"{self.expander.text(part.second).strip()}: substring expression < 0")
            chosen = items[start : start + length]
        return chosen

    # -- operators on text

    def _operation(self, part: Parameter) -> Callable[[str], str]:
        """The operator as a function of one text."""
        operator = part.operator
        expander = self.expander
        if operator.startswith("@"):
            return lambda text: transform(operator[1], text, part.name)
        assert part.argument is not None
        pattern = expander.pattern(part.argument)
        spend = expander.shell.spend
        if operator in ("#", "##"):
            longest = operator == "##"
            prefix = matcher(pattern, spend, greedy=longest)

            def strip_prefix(text: str) -> str:
                spend(1 + (len(text) >> 6))
                match = prefix.match(text)
                return text[match.end() :] if match else text

            return strip_prefix
        if operator in ("%", "%%"):
            return lambda text: strip_suffix(text, pattern, operator == "%%", spend)
        if operator.startswith(("^", ",")):
            return lambda text: change_case(text, operator, pattern, spend)
        replacement = self._replacement(part)
        return lambda text: replace(text, pattern, replacement, operator, spend)

    def _replacement(self, part: Parameter) -> list[str | None]:
        """Pieces of the replacement; None stands for what was matched (an unquoted &)."""
        if part.second is None:
            return []
        pieces: list[str | None] = []
        for piece in part.second.parts:
            text = self.expander.text(Word((piece,), None))
            if getattr(piece, "quoted", True) or "&" not in text:
                pieces.append(text)
                continue
            for index, chunk in enumerate(re.split(r"(?<!\\)&", text)):
                if index:
                    pieces.append(None)
                pieces.append(chunk.replace("\\&", "&"))
        return pieces
