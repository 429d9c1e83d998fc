from __future__ import annotations

import errno

import pytest

from runners.sim.clock import Clock
from runners.sim.files.content import Content
from runners.sim.files.inode import ROOT, Cred
from runners.sim.files.tree import FileTree, Mount
from runners.sim.files.view import FileView

USER = Cred(1000, 1000, frozenset({1000, 50}))


@pytest.fixture
def tree() -> FileTree:
    tree = FileTree(Clock(1000.0, 0.0))
    tree.mount(Mount(1, "/", "/dev/vda1", "ext4", 10 << 20, 1000, 0), None)
    root = FileView(tree, ROOT)
    root.mkdir("/var", 0o755)
    root.mkdir("/var/log", 0o755)
    tree.mount(Mount(2, "/var/log", "/dev/vda2", "ext4", 64 << 10, 8, 0), root.stat("/var/log"))
    root.mkdir("/home", 0o755)
    root.mkdir("/home/user", 0o700)
    root.chown("/home/user", 1000, 1000)
    root.mkdir("/tmp", 0o777)
    root.chmod("/tmp", 0o1777)
    return tree


def code(call: object, *args: object, **named: object) -> int | None:
    try:
        call(*args, **named)  # type: ignore[operator]
    except OSError as error:
        return error.errno
    return None


def test_links_dots_and_relative_paths(tree: FileTree) -> None:
    root = FileView(tree, ROOT)
    root.write("/home/user/a", b"text")
    root.symlink("user/a", "/home/link")
    root.symlink("/home", "/h")
    inside = FileView(tree, ROOT, "/home/user")
    assert root.read("/home/link") == b"text"
    assert root.read("/h/../home/user/./a") == b"text"
    assert inside.read("a") == b"text"
    assert inside.read("../link") == b"text"
    assert root.real_path("/h/link") == "/home/user/a"
    assert root.stat("/h/link", follow=False).target == "user/a"


def test_errors_are_linux_ones(tree: FileTree) -> None:
    root = FileView(tree, ROOT)
    root.write("/file", b"x")
    root.symlink("/loop2", "/loop1")
    root.symlink("/loop1", "/loop2")
    assert code(root.read, "/none") == errno.ENOENT
    assert code(root.read, "/file/below") == errno.ENOTDIR
    assert code(root.read, "/file/") == errno.ENOTDIR
    assert code(root.read, "/home") == errno.EISDIR
    assert code(root.read, "/loop1") == errno.ELOOP
    assert code(root.mkdir, "/home") == errno.EEXIST
    assert code(root.rmdir, "/home") == errno.ENOTEMPTY
    assert code(root.unlink, "/home") == errno.EISDIR
    assert code(root.write, "/" + "n" * 256, b"") == errno.ENAMETOOLONG
    assert code(root.rename, "/file", "/var/log/file") == errno.EXDEV
    assert code(root.link, "/home", "/other") == errno.EPERM
    assert code(root.rename, "/home", "/home/user/home") == errno.EINVAL


def test_modes_hold_for_users_and_not_for_root(tree: FileTree) -> None:
    root, user = FileView(tree, ROOT), FileView(tree, USER)
    root.write("/secret", b"s")
    root.chmod("/secret", 0o640)
    assert code(user.read, "/secret") == errno.EACCES
    root.chown("/secret", 0, 50)
    assert user.read("/secret") == b"s"
    assert code(user.write, "/secret", b"mine") == errno.EACCES
    assert code(user.chmod, "/secret", 0o777) == errno.EPERM
    assert code(user.write, "/new", b"") == errno.EACCES
    root.chmod("/secret", 0)
    assert root.read("/secret") == b"s"


def test_the_owner_class_counts_even_where_others_have_more(tree: FileTree) -> None:
    user = FileView(tree, USER)
    user.write("/home/user/odd", b"x")
    user.chmod("/home/user/odd", 0o077)
    assert code(user.read, "/home/user/odd") == errno.EACCES


def test_a_sticky_directory_protects_others_files(tree: FileTree) -> None:
    root, user = FileView(tree, ROOT), FileView(tree, USER)
    root.write("/tmp/roots", b"")
    user.write("/tmp/mine", b"")
    assert code(user.unlink, "/tmp/roots") == errno.EPERM
    user.unlink("/tmp/mine")


def test_a_directory_without_x_cannot_be_entered(tree: FileTree) -> None:
    root, user = FileView(tree, ROOT), FileView(tree, USER)
    root.mkdir("/shut", 0o755)
    root.write("/shut/file", b"x")
    root.chmod("/shut", 0o744)
    assert user.names("/shut") == ["file"]
    assert code(user.read, "/shut/file") == errno.EACCES


def test_setgid_directories_hand_their_group_on(tree: FileTree) -> None:
    root = FileView(tree, ROOT)
    root.mkdir("/shared", 0o2775)
    root.chown("/shared", 0, 50)
    root.write("/shared/file", b"")
    root.mkdir("/shared/sub", 0o755)
    assert root.stat("/shared/file").gid == 50
    assert root.stat("/shared/sub").mode & 0o2000


def test_a_full_file_system_refuses_and_keeps_what_was_there(tree: FileTree) -> None:
    root = FileView(tree, ROOT)
    root.write("/var/log/a", b"first")
    mount = tree.mounts[1]
    root.write("/var/log/big", Content.filled(b"\0", tree.free(mount).bytes - 4096))
    root.write("/var/log/last", b"fits")
    assert code(root.write, "/var/log/one-more", b"x") == errno.ENOSPC
    assert code(root.write, "/var/log/a", Content.filled(b"y", 5000), append=True) == errno.ENOSPC
    assert root.read("/var/log/a") == b"first"
    root.write("/elsewhere", b"the other file system has room")


def test_inodes_run_out_too(tree: FileTree) -> None:
    root = FileView(tree, ROOT)
    for number in range(7):
        root.write(f"/var/log/{number}", b"")
    assert code(root.write, "/var/log/8", b"") == errno.ENOSPC


def test_a_deleted_open_file_keeps_its_space(tree: FileTree) -> None:
    root = FileView(tree, ROOT)
    root.write("/var/log/big", Content.filled(b"\0", 32 << 10))
    number = root.stat("/var/log/big").number
    tree.open(number)
    before = tree.free(tree.mounts[1]).bytes
    root.unlink("/var/log/big")
    assert tree.free(tree.mounts[1]).bytes == before
    tree.close(number)
    assert tree.free(tree.mounts[1]).bytes == before + (32 << 10)


def test_hard_links_share_until_the_last_one_goes(tree: FileTree) -> None:
    root = FileView(tree, ROOT)
    root.write("/one", b"x")
    root.link("/one", "/two")
    root.write("/two", b"y", append=True)
    assert root.read("/one") == b"xy"
    assert root.stat("/one").nlink == 2
    root.unlink("/one")
    assert root.read("/two") == b"xy"


def test_a_read_only_mount(tree: FileTree) -> None:
    root = FileView(tree, ROOT)
    root.write("/var/log/a", b"")
    tree.update_mount("/var/log", options=("ro",))
    assert code(root.write, "/var/log/a", b"x") == errno.EROFS
    assert code(root.unlink, "/var/log/a") == errno.EROFS
    assert code(root.write, "/b", b"x") is None


def test_a_fork_goes_its_own_way(tree: FileTree) -> None:
    root = FileView(tree, ROOT)
    root.write("/a", b"old")
    other = FileView(tree.fork(Clock(1000.0, 0.0)), ROOT)
    other.write("/a", b"new")
    other.rmdir("/home/user")
    assert root.read("/a") == b"old"
    assert root.exists("/home/user")
    assert other.read("/a") == b"new"


def test_unmounting_shows_what_was_below(tree: FileTree) -> None:
    root = FileView(tree, ROOT)
    root.write("/var/log/a", b"")
    tree.unmount("/var/log")
    assert root.names("/var/log") == []


def test_a_fresh_tmpfs_is_empty(tree: FileTree) -> None:
    root = FileView(tree, ROOT)
    root.mkdir("/run")
    tree.mount(Mount(3, "/run", "tmpfs", "tmpfs", 1 << 20, 100, 0), root.stat("/run"))
    assert tree.usage[3] == (0, 1)
    assert tree.free(tree.mounts[2]) == (1 << 20, 99)
