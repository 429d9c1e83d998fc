"""Runs in a world, on what Python it has: programs that Ansible had another world run are run again, in the same order.

Standard input: JSON, [[argv, given], …], where `given` (bytes as Latin-1) goes to the program's standard input.
Standard output: JSON, [[exit code, standard output], …].

An Ansible module comes with the library that it needs, packed as source, and compiling that takes most of its time. So
the libraries of all modules are unpacked into one folder and loaded once, and each module runs in a fork that has them.
"""

from __future__ import annotations

import base64
import contextlib
import importlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import traceback
import zipfile

MODULE = "_ANSIBALLZ_WRAPPER = True"
LIBRARY = re.compile(r"^zip_data='([A-Za-z0-9+/=]+)',$", re.MULTILINE)
LOADER = "ansible.module_utils._internal._ansiballz._loader"
PLACE = "/dev/shm" if os.path.isdir("/dev/shm") else None


def main() -> None:
    calls: list[tuple[list[str], str]] = json.load(sys.stdin)
    libraries = [library(argv, given) for argv, given in calls]
    folder = tempfile.mkdtemp(dir=PLACE)
    try:
        load(folder, [packed for packed in libraries if packed])
        answers = [
            in_fork(given) if packed else run(argv, given)
            for (argv, given), packed in zip(calls, libraries, strict=True)
        ]
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    json.dump(answers, sys.stdout)


def library(argv: list[str], given: str) -> str:
    """The packed library, where it is Python that is given an Ansible module to run; else nothing."""
    found = LIBRARY.search(given) if MODULE in given and "/usr/bin/python3" in argv[-1] else None
    return found.group(1) if found else ""


def load(folder: str, libraries: list[str]) -> None:
    """Unpack the libraries of all modules into the folder, and import what all of them begin with."""
    for packed in libraries:
        with zipfile.ZipFile(io.BytesIO(base64.b64decode(packed))) as library:
            library.extractall(folder)
    if libraries:
        sys.path.insert(0, folder)
        sys.dont_write_bytecode = True
        # Another version of Ansible may begin elsewhere; then each module loads everything by itself.
        with contextlib.suppress(ImportError):
            importlib.import_module(LOADER)


def run(argv: list[str], given: str) -> tuple[int, str]:
    done = subprocess.run(argv, input=given.encode("latin-1"), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return done.returncode, done.stdout.decode("latin-1")


def in_fork(script: str) -> tuple[int, str]:
    """Run a module in a process that has everything loaded."""
    with tempfile.TemporaryFile(dir=PLACE) as said:
        child = os.fork()
        if child == 0:
            os._exit(as_program(script, said.fileno()))
        _, status = os.waitpid(child, 0)
        said.seek(0)
        return os.waitstatus_to_exitcode(status), said.read().decode("latin-1")


def as_program(script: str, said: int) -> int:
    """Be that program: nothing to read, its output goes to `said`. Returns its exit code."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for number, handle in enumerate((nothing, said, nothing)):
        os.dup2(handle, number)
    sys.argv, code = [""], 1
    try:
        exec(compile(script, "<module>", "exec"), {"__name__": "__main__"})  # noqa: S102 (what Ansible wrote)
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
    sys.stdout.flush()
    return code


if __name__ == "__main__":
    main()
