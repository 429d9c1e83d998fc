"""user: what the account files, the home's keys and sudo's rules say, read as the simulated machine reads them."""

from __future__ import annotations

from runners.formats.accounts import Accounts
from runners.hosts.files import About, Files
from runners.hosts.outside import Outside
from runners.probes.accounts import judge
from runners.probes.arguments import Arguments
from runners.worlds import Observation


def user(outside: Outside, arguments: Arguments) -> Observation:
    files = outside.files
    known = Accounts(*(files.text(f"/etc/{file}") for file in ("passwd", "group", "shadow")))
    return judge(arguments, known, _Tree(files), files.text)


class _Tree:
    """A world's files, where what is not there is an error."""

    def __init__(self, files: Files) -> None:
        self._files = files

    def text(self, path: str, /) -> str:
        data = self._files.read(path)
        if data is None:
            raise FileNotFoundError(path)
        return data.decode("utf-8", "replace")

    def stat(self, path: str, /) -> About:
        about = self._files.stat(path)
        if about is None:
            raise FileNotFoundError(path)
        return about

    def names(self, path: str, /) -> tuple[str, ...]:
        return self._files.names(path)
