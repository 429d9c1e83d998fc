"""The quick way to a path and the long one lead to the same place, whatever was done to the folders in between."""

from __future__ import annotations

import contextlib

from hypothesis import given, settings
from hypothesis import strategies as st

from runners.sim.clock import Clock
from runners.sim.files.inode import ROOT, Cred
from runners.sim.files.tree import FileTree, Mount
from runners.sim.files.view import FileView
from runners.sim.files.walk import straight, walk

NAMES = st.sampled_from("abc")
PATHS = st.lists(NAMES, min_size=1, max_size=3).map(lambda names: "/" + "/".join(names))
DOINGS = st.tuples(
    st.sampled_from(("mkdir", "write", "unlink", "rmdir", "rename", "chmod", "symlink", "mount", "unmount", "fork")),
    PATHS,
    PATHS,
)
SOMEBODY = Cred(1000, 1000, frozenset())


def a_tree() -> FileTree:
    tree = FileTree(Clock(1000.0, 0.0))
    tree.mount(Mount(1, "/", "/dev/vda1", "ext4", 1 << 30, 1 << 16, 0), None)
    return tree


def do(tree: FileTree, what: str, path: str, other: str) -> None:
    view = FileView(tree, ROOT)
    if what == "mkdir":
        view.mkdir(path)
    elif what == "write":
        view.write(path, b"x")
    elif what in ("unlink", "rmdir"):
        getattr(view, what)(path)
    elif what == "rename":
        view.rename(path, other)
    elif what == "chmod":
        view.chmod(path, 0o700)
    elif what == "symlink":
        view.symlink(other, path)
    elif what == "mount":
        dev = 1 + max(mount.dev for mount in tree.mounts)
        tree.mount(Mount(dev, path, "tmpfs", "tmpfs", 1 << 20, 1 << 10, 0), view.stat(path))
    elif what == "unmount" and path in [mount.path for mount in tree.mounts]:
        tree.unmount(path)


def look(tree: FileTree, path: str, cred: Cred) -> None:
    quick = straight(tree, cred, path)
    if quick is not None:
        assert quick == walk(tree, cred, "/", path, True)


@given(st.lists(DOINGS, max_size=25), st.lists(PATHS, min_size=1, max_size=6))
@settings(max_examples=200, deadline=None)
def test_the_quick_way_leads_where_the_long_one_does(doings: list[tuple[str, str, str]], paths: list[str]) -> None:
    """Two forks, changed in turn, see each their own folders, though they share what they remember of the way."""
    trees = [a_tree()]
    for number, (what, path, other) in enumerate(doings):
        tree = trees[number % len(trees)]
        if what == "fork":
            if len(trees) < 3:
                trees.append(tree.fork(Clock(1000.0, 0.0)))
        else:
            with contextlib.suppress(OSError):
                do(tree, what, path, other)
        for one in trees:
            for asked in paths:
                look(one, asked, ROOT)
                look(one, asked, SOMEBODY)


def test_a_folder_that_only_one_fork_has_is_not_found_in_the_other() -> None:
    tree = a_tree()
    do(tree, "mkdir", "/a", "")
    other = tree.fork(Clock(1000.0, 0.0))
    do(tree, "mkdir", "/a/b", "")
    do(tree, "write", "/a/b/c", "")
    assert FileView(tree, ROOT).read("/a/b/c") == b"x"
    assert not FileView(other, ROOT).exists("/a/b/c")
