"""Ansible's way into a container: its engine runs the commands. Loaded by Ansible, never imported."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from typing import TypeAlias

from ansible.errors import AnsibleConnectionFailure
from ansible.plugins.connection import ConnectionBase

DOCUMENTATION = """
name: engine
short_description: run commands in a container
description: Over the container engine at $DOCKER_HOST.
options:
  remote_addr:
    description: the container
    default: inventory_hostname
    vars: [{name: inventory_hostname}]
"""
Outcome: TypeAlias = "tuple[int, bytes, bytes]"
"""Exit code, standard output and standard error."""
_MORE = 30
"""Seconds for the engine beside those that a program may run in the world."""


class Connection(ConnectionBase):  # type: ignore[misc]
    transport = "engine"
    has_pipelining = True

    def _connect(self) -> Connection:
        self._connected = True
        return self

    def exec_command(self, cmd: str, in_data: bytes | None = None, sudoable: bool = True) -> Outcome:
        super().exec_command(cmd, in_data=in_data, sudoable=sudoable)
        return self._call(["/bin/sh", "-c", cmd], in_data)

    def put_file(self, in_path: str, out_path: str) -> None:
        with open(in_path, "rb") as file:
            code, _, said = self._call(["/bin/sh", "-c", f"cat > {shlex.quote(out_path)}"], file.read())
        if code:
            raise AnsibleConnectionFailure(f"cannot write {out_path}: {said.decode(errors='replace')}")

    def fetch_file(self, in_path: str, out_path: str) -> None:
        code, data, said = self._call(["/bin/cat", in_path], None)
        if code:
            raise AnsibleConnectionFailure(f"cannot read {in_path}: {said.decode(errors='replace')}")
        with open(out_path, "wb") as file:
            file.write(data)

    def close(self) -> None:
        self._connected = False

    def _call(self, argv: list[str], given: bytes | None) -> Outcome:
        seconds = int(os.environ["BREAKFIX_SECONDS"])
        # It ends in the world, too: what goes on there unseen would be taken for something of somebody else's.
        argv = ["timeout", "-k1", str(seconds), *argv]
        settings = ["-e", "HOME=/root", "-e", "LANG=C.UTF-8", "-e", "USER=root", "-w", "/root"]
        call = ["docker", "exec", "-i", *settings, self.get_option("remote_addr"), *argv]
        try:
            done = subprocess.run(call, input=given or b"", capture_output=True, timeout=seconds + _MORE, check=False)
        except subprocess.TimeoutExpired:
            raise AnsibleConnectionFailure(f"no answer within {seconds + _MORE} s") from None
        self._note(argv, given, done.returncode, done.stdout)
        return done.returncode, done.stdout, done.stderr

    def _note(self, argv: list[str], given: bytes | None, code: int, said: bytes) -> None:
        """What was said and answered, so that it can be said again in a world of the same state."""
        entry = {"argv": argv, "given": (given or b"").decode("latin-1"), "code": code, "said": said.decode("latin-1")}
        with open(os.environ["BREAKFIX_RECORDING"], "a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")
