"""What a few commands do to what is known: what they set, and what they print."""

from __future__ import annotations

import base64
import binascii
import codecs
import re

from runners.typed.expansion import Lines
from runners.typed.finds import Find
from runners.typed.values import UNKNOWN, Invocation, Session, Value

_DECLARING = frozenset({"export", "declare", "typeset", "local", "readonly"})
_ASSIGNED = re.compile(r"([A-Za-z_]\w*)\+?=(.*)", re.DOTALL)


def remember(invocation: Invocation, session: Session, stdin: Lines | None) -> None:
    """What a builtin changes in what is known of the session."""
    name, arguments = invocation.program, invocation.arguments
    if name in ("cd", "pushd"):
        target = next((value for value in arguments if not value.text.startswith("-")), Value("/root"))
        back = any(value.text == "-" for value in arguments)
        session.folder = UNKNOWN if back or target.glob else invocation.path(target)
    elif name in _DECLARING or name == "alias":
        store = session.aliases if name == "alias" else None
        for value in arguments:
            assigned = _ASSIGNED.fullmatch(value.text)
            if assigned and store is not None:
                store[assigned[1]] = assigned[2]
            elif assigned:
                session.variables[assigned[1]] = (Value(assigned[2], value.glob),)
    elif name == "unset":
        for value in arguments:
            session.variables.pop(value.text, None)
            session.functions.pop(value.text, None)
    elif name in ("read", "mapfile", "readarray"):
        for value in arguments:
            if not value.text.startswith("-"):
                session.variables[value.text] = (Value(UNKNOWN),) if stdin is None else stdin


def printed(invocation: Invocation, session: Session, stdin: Lines | None) -> Lines | None:
    """What the few programs print whose output follows from their words."""
    name, arguments = invocation.program, invocation.arguments
    if name == "echo":
        texts = [value.text for value in arguments if value.text not in ("-n", "-e", "-ne", "-en")]
        text = " ".join(texts)
        if any(value.text in ("-e", "-ne", "-en") for value in arguments):
            text = _escapes(text)
        globbing = any(value.glob for value in arguments)
        return tuple(Value(line, globbing) for line in text.split("\n"))
    if name == "printf" and arguments:
        text = _escapes(arguments[0].text)
        for value in arguments[1:]:
            text = re.sub(r"%[sbq]", lambda _, put=value.text: put, text, count=1)  # type: ignore[misc]
        return tuple(Value(line, any(value.glob for value in arguments)) for line in text.split("\n"))
    if name in ("cat", "tee") and (name == "tee" or not arguments):
        return stdin
    if name == "cat" and len(arguments) == 1:
        text_ = session.files.get(invocation.path(arguments[0]))
        return None if text_ is None else tuple(Value(line) for line in text_.splitlines())
    if name == "base64" and stdin is not None and any(value.text in ("-d", "-D", "--decode") for value in arguments):
        try:
            decoded = base64.b64decode("".join(line.text for line in stdin), validate=False)
        except (binascii.Error, ValueError):
            return None
        return tuple(Value(line) for line in decoded.decode("utf-8", "replace").splitlines())
    if name == "ls":
        named = [value for value in arguments if not value.text.startswith("-")]
        return tuple(Value(f"{invocation.path(value).rstrip('/')}/*", True) for value in named) or None
    if name == "find":
        return Find.of(invocation).names
    return () if name in ("cd", "true", ":", "rm", "export", "set", "mkdir", "touch", "sleep") else None


def _escapes(text: str) -> str:
    if "\\" not in text:
        return text
    try:
        return codecs.decode(text.replace("\\c", ""), "unicode_escape")
    except (UnicodeDecodeError, ValueError):
        return text
