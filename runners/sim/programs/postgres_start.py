"""What PostgreSQL checks before it starts: its arguments, its settings, its data directory."""

from __future__ import annotations

from collections.abc import Mapping

from runners.sim.machine import Machine, Say
from runners.sim.memory import memory
from runners.sim.processes import Process
from runners.sim.programs import postgres_config as config
from runners.sim.programs.descriptors import open_log
from runners.sim.programs.postgres_data import OWN_SETTINGS, Cluster, lock_holder, read_cluster
from runners.sim.programs.postgres_log import Held, ServerLog


class EarlyExit(Exception):  # noqa: N818 (the server ends itself with it)
    """It ends before it serves, with a status and last lines of its log."""

    def __init__(self, status: int, *lines: tuple[str, str]) -> None:
        super().__init__(status)
        self.status = status
        self.lines = lines


def configure(machine: Machine, process: Process, say: Say) -> Held:
    arguments = _arguments(process.argv)
    data = arguments.get("D", "")
    path = arguments.get("config_file") or f"{data}/postgresql.conf"
    view = machine.view(process.cred, process.cwd)
    try:
        made, _ = config.parse(view.text(path), path)
        made, problems = config.files(view, path, f"{made.get('data_directory') or data}/{OWN_SETTINGS}")
    except OSError as error:
        say(f'postgres: could not access the server configuration file "{path}": {error.strerror}')
        raise EarlyExit(2) from None
    if problems:
        lines = tuple(("LOG", problem.message) for problem in problems)
        raise EarlyExit(1, *lines, ("FATAL", f'configuration file "{path}" contains errors'))
    settings = {**config.DEFAULTS, **made, **{k: v for k, v in arguments.items() if k in config.DEFAULTS}}
    data = settings["data_directory"] or data
    settings["data_directory"] = data
    settings["config_file"] = path
    hba_path = settings["hba_file"] or f"{data}/pg_hba.conf"
    settings["hba_file"] = hba_path
    collected = ""
    if settings["logging_collector"] in ("on", "true", "yes", "1"):
        folder = settings["log_directory"]
        folder = folder if folder.startswith("/") else f"{data}/{folder}"
        collected = f"{folder}/{machine.clock.time().strftime(settings['log_filename'])}"
    return Held(settings, (), data, collected, path)


def open_data(machine: Machine, process: Process, held: Held, log: ServerLog) -> Cluster:
    view = machine.view(process.cred)
    data = held.data
    try:
        inode = view.stat(data)
    except OSError as error:
        if error.errno == 2:
            raise EarlyExit(2, ("FATAL", f'data directory "{data}" does not exist')) from None
        raise EarlyExit(2, ("FATAL", f'could not read permissions of directory "{data}": {error.strerror}')) from None
    if not inode.is_dir:
        raise EarlyExit(1, ("FATAL", f'specified data directory "{data}" is not a directory'))
    if inode.uid != process.cred.uid:
        raise EarlyExit(
            1,
            ("FATAL", f'data directory "{data}" has wrong ownership'),
            ("HINT", "The server must be started by the user that owns the data directory."),
        )
    if inode.permissions & 0o027:
        raise EarlyExit(
            1,
            ("FATAL", f'data directory "{data}" has invalid permissions'),
            ("DETAIL", "Permissions should be u=rwx (0700) or u=rwx,g=rx (0750)."),
        )
    try:
        version = view.text(f"{data}/PG_VERSION").strip()
    except OSError as error:
        if error.errno == 2:
            raise EarlyExit(
                1,
                ("FATAL", f'"{data}" is not a valid data directory'),
                ("DETAIL", f'File "{data}/PG_VERSION" is missing.'),
            ) from None
        raise EarlyExit(1, ("FATAL", f'could not open file "{data}/PG_VERSION": {error.strerror}')) from None
    if version != "15":
        raise EarlyExit(
            1,
            ("FATAL", "database files are incompatible with server"),
            ("DETAIL", f"The data directory was initialized by PostgreSQL version {version}, which is not compatible "
                       "with this version 15.6 (Debian 15.6-0+deb12u1)."),
        )  # fmt: skip
    holder = lock_holder(machine, data)
    if holder is not None and holder.pid != process.pid:
        raise EarlyExit(
            1,
            ("FATAL", 'lock file "postmaster.pid" already exists'),
            ("HINT", f'Is another postmaster (PID {holder.pid}) running in data directory "{data}"?'),
        )
    cluster = read_cluster(machine, process.cred, data)
    if isinstance(cluster, OSError):
        path = cluster.filename or f"{data}/global/pg_control"
        if str(path).endswith("pg_control"):
            log.say("postgres: could not find the database system")
            log.say(f'Expected to find it in the directory "{data}",')
            log.say(f'but could not open file "{path}": {cluster.strerror}')
            raise EarlyExit(2)
        raise EarlyExit(1, ("FATAL", f'could not open file "{path}": {cluster.strerror}'))
    wanted = config.memory_size(held.settings["shared_buffers"]) or 0
    if wanted > memory(machine).available:
        raise EarlyExit(
            1,
            ("FATAL", "could not map anonymous shared memory: Cannot allocate memory"),
            ("HINT", "This error usually means that PostgreSQL's request for a shared memory segment exceeded "
                     "available memory, swap space, or huge pages. To reduce the request size (currently "
                     f"{wanted + (18 << 20)} bytes), reduce PostgreSQL's shared memory usage, perhaps by reducing "
                     "shared_buffers or max_connections."),
        )  # fmt: skip
    try:
        port, folder = held.settings["port"], held.settings["unix_socket_directories"].split(",")[0]
        lock = f"{process.pid}\n{data}\n{int(machine.clock.now)}\n{port}\n{folder}\n*\n  {process.pid * 7}         0\nready   \n"
        view.write(f"{data}/postmaster.pid", lock.encode("utf-8", "surrogateescape"), mode=0o600)
    except OSError as error:
        what = "write" if error.errno == 28 else "create"
        raise EarlyExit(1, ("FATAL", f'could not {what} lock file "postmaster.pid": {error.strerror}')) from None
    if held.log:
        problem = open_log(machine, process, held.log)
        if problem is not None:
            raise EarlyExit(1, ("FATAL", f'could not open log file "{held.log}": {problem.strerror}'))
        log.write("LOG", "redirecting log output to logging collector process")
        log.write("HINT", f'Future log output will appear in directory "{held.settings["log_directory"]}".')
        log.path = held.log
    return cluster


def _arguments(argv: tuple[str, ...]) -> Mapping[str, str]:
    """-D DIR, -c name=value, --name=value, -p PORT."""
    found: dict[str, str] = {}
    words = list(argv[1:])
    while words:
        word = words.pop(0)
        if word == "-D" and words:
            found["D"] = words.pop(0)
        elif word == "-p" and words:
            found["port"] = words.pop(0)
        elif word == "-c" and words:
            name, _, value = words.pop(0).partition("=")
            found[name] = value
        elif word.startswith("--"):
            name, _, value = word[2:].partition("=")
            found[name.replace("-", "_")] = value
    return found
