"""Does a typed line go on in the next one? What bash shows PS2 for."""

from __future__ import annotations

import re

from runners.formats.shell.parser import parse

_DOCUMENT = re.compile(r"(?<!<)<<(?!<)-?\s*\\?(['\"]?)([^\s'\"|&;<>()]+)\1")
_ESCAPED_END = re.compile(r"(?<!\\)(?:\\\\)*\\$")


def incomplete(text: str) -> bool:
    """Would bash read another line before it runs this: an open quote, command or here-document, a `\\` at the end?"""
    if _ESCAPED_END.search(text):
        return True
    problem = parse(text).problem
    if problem is not None:
        return "unexpected end of file" in problem.message or "unexpected EOF" in problem.message
    lines = text.split("\n")
    for number, line in enumerate(lines):
        for document in _DOCUMENT.finditer(line):
            if document[2] not in [each.lstrip("\t") for each in lines[number + 1 :]]:
                return True
    return False
