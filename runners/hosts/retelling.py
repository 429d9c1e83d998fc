"""Runs in a world, on what Python it has: programs that Ansible had another world run are run again, in the same order.

Standard input, a line of JSON each: first [libraries, compiled], the libraries that Ansible's modules will need as they
are packed (base64), or what another world has compiled of them; then any number of times [[argv, given], …], where
`given` (bytes as Latin-1) goes to the program's standard input. Standard output: once the libraries are loaded, what
was compiled of them, packed likewise, or empty where it was given; and for each of the others [[exit code, standard
output], …] as one line of JSON. It ends with its input.

An Ansible module comes with the library that it needs, packed as source, and compiling that takes most of its time. So
the libraries of all modules are compiled in one world of all, and loaded once in each; and each module runs in a fork
that has them.
"""

from __future__ import annotations

import base64
import importlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import traceback

MODULE = "_ANSIBALLZ_WRAPPER = True"
LOADER = "ansible.module_utils._internal._ansiballz._loader"
PLACE = "/dev/shm" if os.path.isdir("/dev/shm") else None


def main() -> None:
    folder = tempfile.mkdtemp(dir=PLACE)
    try:
        libraries, compiled = json.loads(sys.stdin.readline())
        say(load(folder, libraries, compiled))
        for line in sys.stdin:
            say([run(argv, given) for argv, given in json.loads(line)])
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def say(what: object) -> None:
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()


def load(folder: str, libraries: list[str], compiled: str) -> str:
    """Import what all modules begin with, from what was compiled or else from their own libraries. Returns what was
    compiled of these, where nothing was given."""
    if not libraries and not compiled:
        return ""
    made = "" if compiled else compile_all(folder, libraries)
    place = os.path.join(folder, "compiled.zip")
    with open(place, "wb") as file:
        file.write(base64.b64decode(compiled or made))
    sys.path.insert(0, place)
    # Another version of Ansible may begin elsewhere, and another Python reads none of it: then each module loads
    # everything by itself.
    try:
        importlib.import_module(LOADER)
    except ImportError:
        sys.path.remove(place)
    return made


def compile_all(folder: str, libraries: list[str]) -> str:
    """Compile every source of the libraries; what Python makes of it as base64 of a zip that it can import from."""
    # One world of all does this; the others need not load what it takes.
    import io
    import py_compile
    import zipfile

    for packed in libraries:
        with zipfile.ZipFile(io.BytesIO(base64.b64decode(packed))) as library:
            library.extractall(folder)
    kept = io.BytesIO()
    with zipfile.ZipFile(kept, "w", zipfile.ZIP_DEFLATED) as pack:
        for place, _, names in os.walk(folder):
            for name in names:
                if name.endswith(".py"):
                    source = os.path.join(place, name)
                    # No time stamps: there is no source beside it to compare with.
                    mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
                    if py_compile.compile(source, cfile=f"{source}c", invalidation_mode=mode):
                        pack.write(f"{source}c", os.path.relpath(f"{source}c", folder))
    return base64.b64encode(kept.getvalue()).decode()


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
    # All is said and put away; taking so many modules apart would only keep others waiting.
    os._exit(0)
