"""Runs in a world, on what Python it has: programs that Ansible had another world run are run again, in the same order.

Standard input, a line of JSON each: first the libraries that Ansible's modules will need, as they are packed (base64);
then any number of times [[argv, given], …], where `given` (bytes as Latin-1) goes to the program's standard input.
Standard output: an empty list once the libraries are loaded, and for each of the others [[exit code, standard output],
…] as one line of JSON. It ends with its input.

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
import shutil
import subprocess
import sys
import tempfile
import traceback
import zipfile

MODULE = "_ANSIBALLZ_WRAPPER = True"
LOADER = "ansible.module_utils._internal._ansiballz._loader"
PLACE = "/dev/shm" if os.path.isdir("/dev/shm") else None


def main() -> None:
    folder = tempfile.mkdtemp(dir=PLACE)
    try:
        load(folder, json.loads(sys.stdin.readline()))
        say([])
        for line in sys.stdin:
            say([run(argv, given) for argv, given in json.loads(line)])
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def say(answers: list[tuple[int, str]]) -> None:
    sys.stdout.write(json.dumps(answers) + "\n")
    sys.stdout.flush()


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
    if MODULE in given and "/usr/bin/python3" in argv[-1]:
        return in_fork(given)
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
