"""Characters that sed scripts give by their number."""

from __future__ import annotations

import re

_NUMBERED = re.compile(
    r"x(?P<hexadecimal>[0-9A-Fa-f]{1,2})|o(?P<octal>[0-7]{1,3})|d(?P<decimal>[0-9]{1,3})|c(?P<control>[@-_a-z])"
)


def numbered(text: str, index: int) -> tuple[str, int] | None:
    """The character that `xHH`, `oNNN`, `dNNN` or `cX` at `index` stands for, and where that ends."""
    match = _NUMBERED.match(text, index)
    if match is None:
        return None
    kind = match.lastgroup
    if kind == "control":
        return chr(ord(match[kind].upper()) ^ 0x40), match.end()
    assert kind is not None
    value = int(match[kind], {"hexadecimal": 16, "octal": 8, "decimal": 10}[kind]) & 0xFF
    return bytes([value]).decode("utf-8", "surrogateescape"), match.end()
