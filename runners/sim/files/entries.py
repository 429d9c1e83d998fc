"""A directory's entries, names to inode numbers, that are never written to: each change makes new ones.

Small directories are plain dicts, copied whole. Large ones share a dict and keep their last changes beside it, so that
a hundred thousand files in one folder cost time in proportion.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

_LARGE = 256
_GONE = 0
"""No inode has this number."""

Entries = Mapping[str, int]


class LargeDirectory(Mapping[str, int]):
    """`shared` with `changes` on top: new numbers, or _GONE. New names come last, as in a dict."""

    __slots__ = ("changes", "count", "shared")

    def __init__(self, shared: dict[str, int], changes: dict[str, int], count: int) -> None:
        self.shared = shared
        self.changes = changes
        self.count = count

    def __getitem__(self, name: str) -> int:
        number = self.changes.get(name)
        if number is None:
            return self.shared[name]
        if number == _GONE:
            raise KeyError(name)
        return number

    def __iter__(self) -> Iterator[str]:
        changes = self.changes
        for name in self.shared:
            if name not in changes:
                yield name
        for name, number in changes.items():
            if number != _GONE:
                yield name

    def __len__(self) -> int:
        return self.count


def with_entry(entries: Entries, name: str, number: int) -> Entries:
    """The entries with one more, or with another inode by that name."""
    if len(entries) < _LARGE:
        return {**entries, name: number}
    added = 0 if name in entries else 1
    return _changed(entries, name, number, added)


def without_entry(entries: Entries, name: str) -> Entries:
    """The entries without a name that is among them."""
    if len(entries) < _LARGE:
        return {other: number for other, number in entries.items() if other != name}
    return _changed(entries, name, _GONE, -1)


def _changed(entries: Entries, name: str, number: int, added: int) -> Entries:
    count = len(entries) + added
    if isinstance(entries, LargeDirectory):
        changes = {**entries.changes, name: number}
        if len(changes) <= _LARGE:
            return LargeDirectory(entries.shared, changes, count)
        return dict(LargeDirectory(entries.shared, changes, count))
    assert isinstance(entries, dict)
    return LargeDirectory(entries, {name: number}, count)
