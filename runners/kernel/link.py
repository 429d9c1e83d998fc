"""A conversation with the warden of a host, over one ssh connection: lines of JSON, a question and its answer."""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import tempfile
import threading
import time
from collections.abc import Sequence
from typing import Any

from runners.worlds import WorldError

WARDEN = ("/usr/bin/python3", "-ISE", "/usr/lib/sched/warden.py")
_OPENING_SECONDS = 120.0
_ANSWER_SECONDS = 120.0
"""How long an answer may take beyond the seconds that were asked for: a busy machine's guest is slow."""
_LONGEST = 64 << 20


class Link:
    """Open from the moment it is made. Every method raises WorldError when the host does not answer as it should."""

    def __init__(self, ssh: Sequence[str], warden: Sequence[str] = WARDEN) -> None:
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 (closed with the link)
        self._lock = threading.Lock()
        self._process = subprocess.Popen(
            [*ssh, *warden], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, bufsize=0
        )
        self._buffer = bytearray()
        try:
            self.hello = self._receive(_OPENING_SECONDS)
        except BaseException:
            self.close()
            raise

    def ask(self, what: str, *, patience: float = 0.0, **given: Any) -> dict[str, Any]:
        """patience: seconds that the answer may well take."""
        with self._lock:
            assert self._process.stdin is not None
            try:
                self._process.stdin.write(json.dumps({"ask": what, **given}).encode() + b"\n")
            except OSError as error:
                raise WorldError(f"the host is gone: {self._last_words() or error}") from None
            return self._receive(patience + _ANSWER_SECONDS)

    def _receive(self, seconds: float) -> dict[str, Any]:
        assert self._process.stdout is not None
        until = time.monotonic() + seconds
        with selectors.DefaultSelector() as waiting:
            waiting.register(self._process.stdout, selectors.EVENT_READ)
            while b"\n" not in self._buffer:
                left = until - time.monotonic()
                if left <= 0 or not waiting.select(left):
                    self._process.kill()
                    raise WorldError(f"the host said nothing for {seconds:g} s")
                data = os.read(self._process.stdout.fileno(), 1 << 16)
                if not data or len(self._buffer) > _LONGEST:
                    raise WorldError(f"the host is gone: {self._last_words() or 'the connection ended'}")
                self._buffer += data
        line, _, rest = bytes(self._buffer).partition(b"\n")
        self._buffer = bytearray(rest)
        try:
            reply = json.loads(line)
        except ValueError:
            raise WorldError("the host says what is no answer") from None
        if not isinstance(reply, dict) or "trouble" in reply:
            raise WorldError(f"the host has trouble: {reply.get('trouble') if isinstance(reply, dict) else reply}")
        return reply

    def alive(self) -> bool:
        return self._process.poll() is None

    def close(self) -> None:
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._errors.close()

    def _last_words(self) -> str:
        self._errors.seek(0)
        lines = self._errors.read()[-2000:].decode("utf-8", "replace").strip().splitlines()
        return lines[-1] if lines else ""
