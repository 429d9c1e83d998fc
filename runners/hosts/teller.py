"""A program in a world that does again what Ansible had another one do. It loads what that takes before it is asked."""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias

from runners.hosts.engine import Engine, EngineError, frames
from runners.hosts.playbooks import Call, has_failed

_SECONDS = 120
_DRIVER = (Path(__file__).parent / "retelling.py").read_text()
_LIBRARY = re.compile(rb"^zip_data='([A-Za-z0-9+/=]+)',$", re.MULTILINE)
"""Where a module that Ansible has sent holds its library."""
Compiled: TypeAlias = dict[tuple[str, ...], str]
"""Libraries -> what a world's Python has made of them, as `retelling` packs it."""
_ENVIRONMENT = {"LANG": "C.UTF-8", "HOME": "/root", "USER": "root"}
_PROGRAM = ("timeout", "-k1", str(_SECONDS), "/usr/bin/python3", "-c", _DRIVER)
COMPANION = ("env", "--chdir=/root", *(f"{name}={value}" for name, value in _ENVIRONMENT.items()), *_PROGRAM)
"""The program itself, for a world that begins it by itself."""


def begun_in(engine: Engine, container: str) -> socket.socket:
    """The link to a program that the engine begins now."""
    return engine.attach(container, _PROGRAM, _ENVIRONMENT, "/root")[1]


class Teller:
    """Open from the moment it is made; nothing of it is left in the world once it is closed. Raises EngineError."""

    def __init__(
        self,
        link: socket.socket,
        libraries: Sequence[str],
        compiled: Compiled,
        ended: Callable[[], None] | None = None,
    ) -> None:
        """link: to the program, which is closed in the end; ended: waits for its end, where the link does not tell."""
        self._link, self._ended = link, ended
        self._link.settimeout(_SECONDS + 10)
        self._said = bytearray()
        self._frames = frames(self._link)
        self._loaded = False
        self._libraries, self._compiled = tuple(libraries), compiled
        known = compiled.get(self._libraries, "")
        self._send([[] if known else self._libraries, known])

    def tell(self, calls: Sequence[Call]) -> bool:
        """Have the world run it all. Returns whether it answered as the first one did."""
        if not self._loaded:
            made = self._answer()
            if isinstance(made, str) and made:
                self._compiled.setdefault(self._libraries, made)
            self._loaded = True
        self._send([[list(call.argv), call.given.decode("latin-1")] for call in calls])
        answers = self._answer()
        if not isinstance(answers, list):
            return False
        told = [(code, has_failed(said.encode("latin-1"))) for code, said in answers]
        return told == [(call.code, call.failed) for call in calls]

    def close(self) -> None:
        """Wait for its end."""
        try:
            self._link.shutdown(socket.SHUT_WR)
            if self._ended is not None:
                self._ended()
            else:
                while self._link.recv(1 << 16):
                    pass
        except OSError:
            pass
        finally:
            self._link.close()

    def _send(self, what: object) -> None:
        try:
            self._link.sendall(json.dumps(what).encode() + b"\n")
        except OSError as error:
            raise EngineError(f"the world's Python is gone: {error}") from None

    def _answer(self) -> list[tuple[int, str]] | str | None:
        """One line that it says; None where it says nothing more, or no JSON."""
        try:
            while b"\n" not in self._said:
                stream, data = next(self._frames)
                if stream == 1:
                    self._said += data
        except (StopIteration, OSError):
            return None
        line, _, rest = bytes(self._said).partition(b"\n")
        self._said = bytearray(rest)
        try:
            answer: list[tuple[int, str]] | str = json.loads(line)
        except ValueError:
            return None
        return answer


def libraries(calls: Sequence[Call]) -> tuple[str, ...]:
    """The packed libraries that the modules among the calls bring along, each once."""
    found = (_LIBRARY.search(call.given) for call in calls)
    return tuple(dict.fromkeys(one.group(1).decode() for one in found if one is not None))
