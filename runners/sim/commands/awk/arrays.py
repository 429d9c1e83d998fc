"""Associative arrays that are walked in mawk's order.

mawk keeps two chained hash tables: by string (FNV-1a) and by integer. A chain's most recently used element is in front,
and `for (k in a)` goes through the string table from its first chain to its last. So the order follows from each
key's hash and from how recently it was used; elements made by number enter the string table when it is first needed.
"""

from __future__ import annotations

from runners.sim.commands.awk.values import MAX_INT, Value, string
from runners.text import is_digits

_FIRST_MASK = 63
_CHAIN = 12


class Array:
    """`cells`: by text, least recently used first once `stringy`; `numbered`: the integers used as such, likewise.

    `split`: filled by split() and not yet used in another way, so that nothing is hashed.
    """

    __slots__ = ("cells", "mask", "numbered", "split", "stringy")

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        self.cells: dict[str, Value] = {}
        self.numbered: dict[int, None] = {}
        self.mask = _FIRST_MASK
        self.stringy = False
        self.split = False

    def fill(self, parts: list[Value]) -> None:
        """As split() leaves it: elements 1 to n."""
        self.clear()
        self.cells = {str(number): part for number, part in enumerate(parts, 1)}
        self.split = bool(parts)

    def key(self, subscript: Value) -> str:
        """The text of a subscript that is about to be used, with the effect its use has on the order."""
        if type(subscript) is float:
            if subscript == int(subscript) if -MAX_INT <= subscript <= MAX_INT else False:
                return self._number_key(int(subscript))
            key = string(subscript)
        else:
            key = "" if subscript is None else str(subscript)
        if not self.stringy:
            self._make_strings()
        if key in self.cells:
            self.cells[key] = self.cells.pop(key)
        return key

    def _number_key(self, number: int) -> str:
        key = str(number)
        if self.split:
            if key in self.cells:
                return key
            self._unsplit()
        if number in self.numbered:
            del self.numbered[number]
        elif self.stringy and key in self.cells:
            self.cells[key] = self.cells.pop(key)
        self.numbered[number] = None
        return key

    def get(self, subscript: Value) -> Value:
        """An element's value; the element comes to be when it is looked at."""
        key = self.key(subscript)
        try:
            return self.cells[key]
        except KeyError:
            self._add(key, None)
            return None

    def set(self, subscript: Value, value: Value) -> None:
        key = self.key(subscript)
        if key in self.cells:
            self.cells[key] = value
        else:
            self._add(key, value)

    def _add(self, key: str, value: Value) -> None:
        self.cells[key] = value
        if len(self.cells) > (self.mask + 1) * _CHAIN:
            self.mask = 2 * self.mask + 1

    def __contains__(self, subscript: Value) -> bool:
        if type(subscript) is float and -MAX_INT <= subscript <= MAX_INT and subscript == int(subscript):
            number = int(subscript)
            if str(number) not in self.cells:
                return False
            self._number_key(number)
            return True
        return self.key(subscript) in self.cells

    def delete(self, subscript: Value) -> None:
        if subscript not in self:
            return
        key = self.key(subscript)
        if self.split:
            self._unsplit()
        del self.cells[key]
        if not self.cells:
            self.clear()
        elif is_digits(key.lstrip("-")):
            self.numbered.pop(int(key), None)

    def _unsplit(self) -> None:
        self.split = False
        while len(self.cells) > (self.mask + 1) * _CHAIN:
            self.mask = 2 * self.mask + 1
        self.numbered = dict.fromkeys(int(key) for key in self.cells)

    def _make_strings(self) -> None:
        """Enter what was only known by number into the string table, chain by chain of the integer table."""
        if self.split:
            self._unsplit()
        self.stringy = True
        chains: dict[int, list[int]] = {}
        for number in reversed(self.numbered):
            chains.setdefault(number & self.mask, []).append(number)
        walked = [str(number) for index in sorted(chains) for number in chains[index]]
        self.cells = {key: self.cells[key] for key in walked}

    def keys(self) -> list[str]:
        """All keys in the order in which mawk's loop takes them."""
        if not self.stringy:
            self._make_strings()
        chains: dict[int, list[str]] = {}
        for key in reversed(self.cells):
            chains.setdefault(_hash(key) & self.mask, []).append(key)
        return [key for index in sorted(chains) for key in chains[index]]


def _hash(key: str) -> int:
    """FNV-1a, 32 bits."""
    value = 2166136261
    for char in key:
        value = ((value ^ ord(char)) * 16777619) & 0xFFFFFFFF
    return value
