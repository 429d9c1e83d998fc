"""What a careful administrator leaves behind without changing the machine: backup copies, and notes at home.

Both are files that were not there before, that nothing runs and that show nobody more than they could see already.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from runners.worlds import Facts

_ASIDE = ("/var/backups/", "/var/tmp/")  # noqa: S108 (a path of the world)
_HOMES = ("/root/", "/home/", *_ASIDE)
_SUFFIX = re.compile(r"[.~]")
"""What a backup's name goes on with beside its original: cron.d, sudoers.d and run-parts read no such name."""
_PLAIN = 0o100000
_SETS_AND_RUNS = 0o7111
_OTHERS = 0o007


def keepsakes(changed: Iterable[str], before: Facts, after: Facts, own: Collection[str] = ()) -> frozenset[str]:
    """Those of the changed paths that are such files. own: paths made earlier by whoever is judged."""
    new = [path for path in changed if _bare(path).startswith("/") and (path not in before.persistent or path in own)]
    standing = [path for path in new if path in after.persistent]
    if not standing:
        return frozenset()
    originals: dict[str, list[str]] = {}
    for path, digest in before.persistent.items():
        if path not in own:
            originals.setdefault(_content(digest), []).append(path)
    return frozenset(
        path
        for path in standing
        if _is_note(_bare(path), after.persistent[path])
        or any(
            _is_backup(path, after.persistent[path], original, before.persistent[original])
            for original in originals.get(_content(after.persistent[path]), ())
        )
    )


def _is_note(path: str, digest: str) -> bool:
    """A plain file of one's own in one's home, not hidden: hidden ones are settings, and some are read by programs.

    Or one among the machine's backups that nobody else can read, such as a log that was put aside: what logs hold is no
    lasting fact, so none of them is known as its original.
    """
    mode = int(digest.split(":", 1)[0], 8)
    home, aside = path.startswith(("/root/", "/home/")), path.startswith(_ASIDE) and not mode & _OTHERS
    return (home or aside) and "/." not in path and mode & 0o170000 == _PLAIN and not mode & _SETS_AND_RUNS


def _is_backup(path: str, digest: str, original: str, was: str) -> bool:
    """The original's content under a backup's name, open to nobody to whom the original was not."""
    mode, uid, gid, _ = digest.split(":", 3)
    old_mode, old_uid, old_gid, _ = was.split(":", 3)
    bits, old_bits = int(mode, 8), int(old_mode, 8)
    if bits & 0o7000 or bits & ~old_bits or (uid, gid) not in ((old_uid, old_gid), ("0", "0")):
        return False
    folder, _, name = path.rpartition("/")
    old_folder, _, old_name = original.rpartition("/")
    if folder == old_folder:
        return name.startswith(old_name) and bool(_SUFFIX.match(name, len(old_name)))
    return _bare(path).startswith(_HOMES) and "/." not in path and old_name in name


def _bare(path: str) -> str:
    """Without the machine of a fleet that it is on."""
    return path if path.startswith("/") else path.partition(":")[2]


def _content(digest: str) -> str:
    """The part of a file's digest that is about its content (see `Facts`)."""
    return digest.split(":", 3)[-1]
