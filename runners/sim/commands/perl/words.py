"""Words of the language, by how they are read."""

from __future__ import annotations


def _named(names: str) -> frozenset[str]:
    return frozenset(names.split())


UNARY = _named(
    "length uc lc ucfirst lcfirst chr ord oct hex quotemeta int abs sqrt sin cos exp log rand srand pop shift keys "
    "values each exists delete defined undef ref scalar chomp chop close chdir rmdir readdir closedir sleep exit pos "
    "stat localtime gmtime glob"
)
"""Functions that take one argument, and bind tighter than a comparison."""
DEFAULT_TOPIC = _named(
    "length uc lc ucfirst lcfirst chr ord oct hex quotemeta int abs sqrt sin cos exp log chomp chop defined ref stat "
    "unlink rmdir"
)
"""Functions that take $_ where nothing is given."""
ARRAY_FIRST = _named("push pop shift unshift splice")
UNIMPLEMENTED = _named(
    "accept alarm bind bless chown chroot connect crypt dbmclose dbmopen dump fcntl fileno flock fork format formline "
    "getc getgrent getgrgid getgrnam gethostbyname getlogin getpeername getpgrp getppid getpriority getprotobyname "
    "getpwent getpwnam getpwuid getservbyname getsockname getsockopt ioctl kill link listen lock lstat msgctl msgget "
    "msgrcv msgsnd pack pipe prototype read readlink recv reset rewinddir seek seekdir semctl semget semop send "
    "setpgrp setpriority setsockopt shmctl shmget shmread shmwrite shutdown socket socketpair study symlink syscall "
    "sysopen sysread sysseek syswrite tell telldir tie tied times truncate umask unpack untie utime vec wait waitpid "
    "write require goto"
)
"""Functions of the language that are not modelled: a program that uses one is not begun."""
MODIFIERS = _named("if unless while until for foreach or and")
OPERATORS = _named("eq ne lt gt le ge cmp x xor")
QUOTES = _named("q qq qw qr qx m s tr y")
NOTHING_FOLLOWS = ("", ";", ")", "}", ",", "?", ":", "=", "<", ">", "|", "&", ".", "*", "/", "+", "]")
