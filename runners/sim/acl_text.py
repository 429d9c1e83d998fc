"""Access control lists as text, as getfacl of acl 2.3.1 writes them and setfacl reads them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from runners.formats.accounts import Accounts
from runners.sim.files.acl import Acl
from runners.text import is_digits

_TAGS = {"u": "user", "g": "group", "m": "mask", "o": "other"}
_SPELLED = {spelled: tag for tag, name in _TAGS.items() for spelled in (tag, name)}
_BITS = {"r": 4, "w": 2, "x": 1, "X": 0, "-": 0}


class Entry(NamedTuple):
    """One entry. `tag`: the first letter of user, group, mask, other; `who`: the number of a named user or group.

    `bits`: None where an entry that is to be removed names none; `search`: X, execute where that makes sense.
    """

    tag: str
    who: int | None
    bits: int | None
    default: bool = False
    search: bool = False


class AclTextError(ValueError):
    """`at`: the first character (from 1) that cannot stand there; None where the text ends too early."""

    def __init__(self, at: int | None) -> None:
        super().__init__(at)
        self.at = at


def shown(bits: int) -> str:
    """`r-x`."""
    return "".join(letter if bits & bit else "-" for letter, bit in (("r", 4), ("w", 2), ("x", 1)))


def rows(acl: Acl) -> Iterator[tuple[str, int | None, int, bool]]:
    """(tag, whose, bits, whether the mask bounds them) of each entry, in the order in which they are shown."""
    bound = acl.mask is not None
    yield "u", None, acl.user, False
    yield from (("u", uid, bits, bound) for uid, bits in acl.users)
    yield "g", None, acl.group, bound
    yield from (("g", gid, bits, bound) for gid, bits in acl.groups)
    if acl.mask is not None:
        yield "m", None, acl.mask, False
    yield "o", None, acl.other, False


def lines(acl: Acl, accounts: Accounts | None, *, effective: bool | None = None) -> Iterator[str]:
    """The long form. accounts: None for numbers; effective: what the mask leaves is said of every entry that it bounds,
    of none (False), or where it makes a difference (None)."""
    for tag, who, bits, bound in rows(acl):
        text = f"{_TAGS[tag]}:{named(tag, who, accounts)}:{shown(bits)}"
        left = bits & acl.mask if bound and acl.mask is not None else bits
        said = bound if effective else effective is None and left != bits
        yield f"{text}\t#effective:{shown(left)}" if said else text


def named(tag: str, who: int | None, accounts: Accounts | None) -> str:
    """Whose an entry is, by name where there are accounts."""
    if who is None:
        return ""
    if accounts is None:
        return str(who)
    return accounts.user_name(who) if tag == "u" else accounts.group_name(who)


def parse(text: str, accounts: Accounts, *, removing: bool = False, default: bool = False) -> list[Entry]:
    """Entries between commas, the last of which may be followed by one. Raises AclTextError."""
    found: list[Entry] = []
    words, at = text.split(","), 0
    for word in words[:-1] if len(words) > 1 and not words[-1] else words:
        found.append(_entry(word, at, accounts, removing=removing, default=default))
        at += len(word) + 1
    return found


def parse_lines(text: str, accounts: Accounts, *, removing: bool = False, default: bool = False) -> list[Entry]:
    """Entries of a file: one or more a line, comments begin with `#`. Raises AclTextError."""
    found: list[Entry] = []
    for line in text.splitlines():
        words = line.split("#", 1)[0].strip()
        if words:
            found += parse(words, accounts, removing=removing, default=default)
    return found


def _entry(word: str, at: int, accounts: Accounts, *, removing: bool, default: bool) -> Entry:
    name, _, rest = word.partition(":")
    if name in ("d", "default"):
        default, at, (name, _, rest) = True, at + len(name) + 1, rest.partition(":")
        if not name:
            return Entry("u", None, None if removing else 0, default)
    tag = _SPELLED.get(name)
    if tag is None:
        raise AclTextError(at + 1)
    at += len(name) + 1
    who = None
    if tag in "ug":
        whose, _, rest = rest.partition(":")
        who = _number(tag, whose, at, accounts) if whose else None
        at += len(whose) + 1
    elif rest.startswith(":"):
        # `mask:r` and `mask::r` are both right.
        rest, at = rest[1:], at + 1
    if removing:
        if rest:
            raise AclTextError(at + 1)
        return Entry(tag, who, None, default)
    if not rest:
        raise AclTextError(None)
    bits, search = _permissions(rest, at)
    return Entry(tag, who, bits, default, search)


def _number(tag: str, name: str, at: int, accounts: Accounts) -> int:
    user, group = (accounts.user(name), None) if tag == "u" else (None, accounts.group(name))
    if user is not None or group is not None:
        return user.uid if user is not None else group.gid if group is not None else 0
    if not is_digits(name):
        raise AclTextError(at + 1)
    return int(name)


def _permissions(text: str, at: int) -> tuple[int, bool]:
    if text[0] in "01234567":
        if len(text) > 1:
            raise AclTextError(at + 2)
        return int(text), False
    bits = 0
    for index, letter in enumerate(text):
        if letter not in _BITS or letter in text[:index].replace("-", ""):
            raise AclTextError(at + index + 1)
        bits |= _BITS[letter]
    return bits, "X" in text
