"""The tree as one process sees it: paths from its folder, permissions of its user, umask of its own."""

from __future__ import annotations

import errno
import posixpath
import stat

from runners.sim.files.acl import Acl, inherited, split
from runners.sim.files.content import EMPTY, Content
from runners.sim.files.entries import without_entry
from runners.sim.files.inode import EXECUTE, READ, WRITE, Cred, Inode, permits
from runners.sim.files.tree import FileTree, fail
from runners.sim.files.walk import Found, straight, walk

__all__ = ["FileView", "Found"]


class FileView:
    """Permission-checked file operations. Every method takes a path and raises OSError as the kernel would."""

    __slots__ = ("cred", "cwd", "tree", "umask")

    def __init__(self, tree: FileTree, cred: Cred, cwd: str = "/", umask: int = 0o022) -> None:
        self.tree = tree
        self.cred = cred
        self.cwd = cwd
        self.umask = umask

    # -- finding

    def absolute(self, path: str) -> str:
        """The path from the root, `.` and `..` folded by their letters alone."""
        joined = posixpath.normpath(posixpath.join(self.cwd, path))
        return joined[1:] if joined.startswith("//") else joined

    def find(self, path: str, *, follow: bool = True) -> Found:
        """Walk a path. ENOENT when a directory on the way is missing; a missing last name is `inode=None`."""
        if path == "":
            raise fail(errno.ENOENT, path)
        return straight(self.tree, self.cred, path) or walk(self.tree, self.cred, self.cwd, path, follow)

    def stat(self, path: str, *, follow: bool = True) -> Inode:
        found = self.find(path, follow=follow)
        if found.inode is None:
            raise fail(errno.ENOENT, path)
        return found.inode

    def exists(self, path: str) -> bool:
        try:
            return self.find(path).inode is not None
        except OSError:
            return False

    def real_path(self, path: str) -> str:
        """Absolute and free of links; the last part may be missing."""
        return self.find(path).path

    def access(self, path: str, want: int) -> bool:
        """As access(2): may this user do `want` (READ + WRITE + EXECUTE) with what is there?"""
        try:
            return permits(self.stat(path), self.cred, want)
        except OSError:
            return False

    def names(self, path: str) -> list[str]:
        """The names in a directory, in the order they were made."""
        inode = self.stat(path)
        if inode.entries is None:
            raise fail(errno.ENOTDIR, path)
        if not permits(inode, self.cred, READ):
            raise fail(errno.EACCES, path)
        return list(inode.entries)

    # -- contents

    def content(self, path: str) -> Content:
        """The content of a regular file. Device files are the caller's business: see `stat`."""
        inode = self.stat(path)
        if not permits(inode, self.cred, READ):
            raise fail(errno.EACCES, path)
        if inode.entries is not None:
            raise fail(errno.EISDIR, path)
        return inode.content

    def read(self, path: str) -> bytes:
        return self.content(path).read()

    def text(self, path: str) -> str:
        return self.read(path).decode("utf-8", "surrogateescape")

    def open_for_writing(self, path: str, *, truncate: bool, exclusive: bool = False, mode: int = 0o666) -> Inode:
        """open(2) with O_CREAT and, if asked, O_TRUNC or O_EXCL: checks, creates, and gives the inode."""
        found = self.find(path)
        inode = found.inode
        if inode is None:
            if path.endswith("/"):
                raise fail(errno.EISDIR, path)
            self._may_change(found.parent, path)
            return self._create(found, stat.S_IFREG | mode)
        if exclusive:
            raise fail(errno.EEXIST, path)
        if inode.entries is not None:
            raise fail(errno.EISDIR, path)
        if not permits(inode, self.cred, WRITE):
            raise fail(errno.EACCES, path)
        self._writable(inode, path)
        if truncate and inode.attributes:
            raise fail(errno.EPERM, path)
        if truncate and inode.is_file and inode.content.size and inode.number > 0:
            inode = self._store(inode, EMPTY)
        return inode

    def write(self, path: str, data: bytes | Content, *, append: bool = False, mode: int = 0o666) -> None:
        """Write or append to a file, making it where it is missing."""
        inode = self.open_for_writing(path, truncate=not append, mode=mode)
        content = data if isinstance(data, Content) else Content.of(data)
        if inode.number < 0:
            self.tree.synthetic[inode.dev].store(inode.number, content.read())
            return
        if inode.is_char:
            if inode.device == (1, 7) and content.size:
                raise fail(errno.ENOSPC, path)
            return
        try:
            self._store(inode, inode.content.concat(content) if append else content)
        except OSError as error:
            raise fail(error.errno or errno.EIO, path) from None

    def _store(self, inode: Inode, content: Content) -> Inode:
        changed = inode.written(content, self.tree.clock.now)
        if self.cred.uid != 0 and inode.mode & 0o6000:
            changed = changed._replace(mode=inode.mode & ~0o6000)
        return self.tree.put(changed)

    def truncate(self, path: str, size: int) -> None:
        inode = self.open_for_writing(path, truncate=False)
        if inode.is_file:
            self._store(inode, inode.content.resized(size))

    # -- names

    def mkdir(self, path: str, mode: int = 0o777) -> Inode:
        found = self.find(path.rstrip("/") or "/")
        if found.inode is not None:
            raise fail(errno.EEXIST, path)
        self._may_change(found.parent, path)
        if found.parent.mode & stat.S_ISGID:
            mode |= stat.S_ISGID
        return self._create(found, stat.S_IFDIR | mode)

    def _create(self, found: Found, mode: int) -> Inode:
        """A new file or directory: what its folder lets it inherit takes the place of the umask."""
        parent, default = found.parent, found.parent.default_acl
        mode, acl = (mode & ~self.umask, None) if default is None else inherited(default, mode)
        return self.tree.create(
            parent, found.name, mode, self.cred.uid, self._gid(parent),
            acl=acl, default_acl=default if stat.S_ISDIR(mode) else None,
        )  # fmt: skip

    def symlink(self, target: str, path: str) -> None:
        found = self.find(path, follow=False)
        if found.inode is not None:
            raise fail(errno.EEXIST, path)
        self._may_change(found.parent, path)
        self.tree.create(
            found.parent, found.name, stat.S_IFLNK | 0o777, self.cred.uid, self._gid(found.parent), target=target
        )

    def link(self, source: str, path: str) -> None:
        inode = self.stat(source, follow=False)
        found = self.find(path, follow=False)
        if found.inode is not None:
            raise fail(errno.EEXIST, path)
        if inode.is_dir:
            raise fail(errno.EPERM, path)
        if inode.dev != found.parent.dev:
            raise fail(errno.EXDEV, path)
        self._may_change(found.parent, path)
        self.tree.put(inode._replace(nlink=inode.nlink + 1, ctime=self.tree.clock.now))
        self.tree.enter(found.parent, found.name, inode.number)

    def unlink(self, path: str) -> None:
        found = self._existing(path)
        assert found.inode is not None
        if found.inode.is_dir:
            raise fail(errno.EISDIR, path)
        self._may_remove(found, path)
        self.tree.leave(found.parent, found.name)

    def rmdir(self, path: str) -> None:
        found = self._existing(path)
        assert found.inode is not None
        if not found.inode.is_dir:
            raise fail(errno.ENOTDIR, path)
        if found.inode.number in {mount.root for mount in self.tree.mounts}:
            raise fail(errno.EBUSY, path)
        if found.inode.entries:
            raise fail(errno.ENOTEMPTY, path)
        self._may_remove(found, path)
        self.tree.leave(found.parent, found.name)

    def rename(self, source: str, target: str) -> None:
        """rename(2): within one file system, replacing a file or an empty directory of the same kind."""
        old = self._existing(source)
        new = self.find(target, follow=False)
        moved = old.inode
        assert moved is not None
        if moved.number in {mount.root for mount in self.tree.mounts}:
            raise fail(errno.EBUSY, source)
        if moved.dev != new.parent.dev:
            raise fail(errno.EXDEV, target)
        if moved.is_dir and (new.path == old.path or new.path.startswith(old.path + "/")):
            if new.path == old.path:
                return
            raise fail(errno.EINVAL, target)
        self._may_remove(old, source)
        self._may_change(new.parent, target)
        if new.inode is not None:
            if new.inode.number == moved.number:
                return
            if new.inode.is_dir != moved.is_dir:
                raise fail(errno.EISDIR if new.inode.is_dir else errno.ENOTDIR, target)
            if new.inode.entries:
                raise fail(errno.ENOTEMPTY, target)
            self._may_remove(new, target)
            self.tree.leave(new.parent, new.name)
        # Enter first, then take the old name out without dropping the link that the new name now is.
        self.tree.enter(new.parent, new.name, moved.number, subdirectory=moved.is_dir)
        parent = self.tree.inodes[old.parent.number]
        assert parent.entries is not None
        now = self.tree.clock.now
        self.tree.put(
            parent._replace(
                entries=without_entry(parent.entries, old.name),
                nlink=parent.nlink - (1 if moved.is_dir else 0),
                mtime=now,
                ctime=now,
            )
        )
        self.tree.put(self.tree.inodes[moved.number]._replace(ctime=now))
        if moved.number in self.tree.opens:
            self.tree.moved = self.tree.moved.set(moved.number, new.path)

    # -- metadata

    def chmod(self, path: str, permissions: int, *, follow: bool = True) -> None:
        inode = self._owned(path, follow)
        self.tree.put(inode._replace(mode=stat.S_IFMT(inode.mode) | (permissions & 0o7777), ctime=self.tree.clock.now))

    def set_acl(self, path: str, access: Acl, default: Acl | None) -> None:
        """Give a file these lists, and the mode that follows. Links are followed; only directories have a default."""
        inode = self._owned(path, True)
        mode, beside = split(access, inode.mode)
        if inode.is_dir or default is None:
            now = self.tree.clock.now
            self.tree.put(inode._replace(mode=mode, acl=beside, default_acl=default, ctime=now))
        else:
            raise fail(errno.EACCES, path)

    def chown(self, path: str, uid: int | None, gid: int | None, *, follow: bool = True) -> None:
        """Change owner (root only) and group (root, or the owner to a group of theirs); setuid bits go, as in Linux."""
        inode = self.stat(path, follow=follow)
        self._writable(inode, path)
        if self.cred.uid != 0:
            own = inode.uid == self.cred.uid
            group_ok = gid is None or gid == self.cred.gid or gid in self.cred.groups
            if not own or (uid is not None and uid != inode.uid) or not group_ok:
                raise fail(errno.EPERM, path)
        mode = inode.mode & ~0o6000 if inode.is_file else inode.mode
        self.tree.put(
            inode._replace(
                uid=inode.uid if uid is None else uid,
                gid=inode.gid if gid is None else gid,
                mode=mode,
                ctime=self.tree.clock.now,
            )
        )

    def touch(self, path: str, at: float | None = None) -> None:
        """Set the modification time (now, if none is given), making an empty file where there is none."""
        inode = self.open_for_writing(path, truncate=False) if not self._is_dir(path) else self.stat(path)
        self.tree.put(inode._replace(mtime=self.tree.clock.now if at is None else at, ctime=self.tree.clock.now))

    # -- rules

    def _is_dir(self, path: str) -> bool:
        try:
            return self.stat(path).is_dir
        except OSError:
            return False

    def _existing(self, path: str) -> Found:
        found = self.find(path.rstrip("/") or "/", follow=False)
        if found.inode is None:
            raise fail(errno.ENOENT, path)
        return found

    def _owned(self, path: str, follow: bool) -> Inode:
        inode = self.stat(path, follow=follow)
        self._writable(inode, path)
        if inode.attributes:
            raise fail(errno.EPERM, path)
        if self.cred.uid not in (0, inode.uid):
            raise fail(errno.EPERM, path)
        return inode

    def _may_change(self, parent: Inode, path: str) -> None:
        if parent.dev in self.tree.synthetic:
            raise fail(errno.EPERM, path)
        if not permits(parent, self.cred, WRITE | EXECUTE):
            raise fail(errno.EACCES, path)
        self._writable(parent, path)

    def _writable(self, inode: Inode, path: str) -> None:
        if inode.number < 0:
            if not inode.mode & 0o222 or inode.is_dir:
                raise fail(errno.EACCES, path)
            return
        if self.tree.mount_of(inode).read_only and not inode.is_char:
            raise fail(errno.EROFS, path)
        if "i" in inode.attributes:
            raise fail(errno.EPERM, path)

    def _may_remove(self, found: Found, path: str) -> None:
        assert found.inode is not None
        self._may_change(found.parent, path)
        if found.inode.attributes or "a" in found.parent.attributes:
            raise fail(errno.EPERM, path)
        sticky = found.parent.mode & stat.S_ISVTX
        if sticky and self.cred.uid not in (0, found.parent.uid, found.inode.uid):
            raise fail(errno.EPERM, path)

    def _gid(self, parent: Inode) -> int:
        return parent.gid if parent.mode & stat.S_ISGID else self.cred.gid
