"""Redis 7.0: a data set in memory, its snapshot on disk, and the commands that clients use."""

from __future__ import annotations

import re
from collections.abc import Mapping

from runners.sim.lifecycle import open_file
from runners.sim.machine import Machine, Program, Say
from runners.sim.network.connect import Connection
from runners.sim.processes import Process
from runners.sim.programs.descriptors import append, bind, current, hold
from runners.sim.programs.redis_admin import ADMIN, administer
from runners.sim.programs.redis_call import Call, Refusal
from runners.sim.programs.redis_commands import COMMANDS, FREEING
from runners.sim.programs.redis_config import VERSION, ConfigError, Settings, overrides, parse
from runners.sim.programs.redis_data import (
    EMPTY,
    Database,
    Held,
    RedisError,
    RedisRequest,
    RedisSession,
    Reply,
    Status,
    decode,
    encode,
)
from runners.sim.systemd.service import notify


class Redis(Program):
    ends_on = frozenset({15, 2})
    notifies = True

    def start(self, machine: Machine, process: Process, say: Say) -> int | None:
        words = process.argv[1:]
        if words and words[0] in ("--version", "-v"):
            say(f"Redis server v={VERSION} sha=00000000:0 malloc=jemalloc-5.3.0 bits=64 build=a3fdef44459b3ad6")
            return 0
        path = words[0] if words and not words[0].startswith("--") else ""
        view = machine.view(process.cred, process.cwd)
        try:
            text = view.text(path) if path else ""
        except OSError as error:
            at = machine.clock.time()
            stamp = f"{process.pid}:C {at:%d %b %Y %H:%M:%S}.{at.microsecond // 1000:03d}"
            say(f"{stamp} # Fatal error, can't open config file '{path}': {error.strerror}")
            return 1
        try:
            settings = parse(text, path, overrides(words))
        except ConfigError as error:
            for line in str(error).splitlines():
                say(line)
            return 1
        if settings.log:
            try:
                open_file(machine, process, settings.log)
            except OSError as error:
                say("")
                say(f"*** FATAL CONFIG FILE ERROR (Redis {VERSION}) ***")
                say(f"Can't open the log file: {error.strerror}")
                return 1
        try:
            inode = view.stat(settings.folder)
            if not inode.is_dir or not view.access(settings.folder, 1):
                raise OSError(13 if inode.is_dir else 20, "Permission denied" if inode.is_dir else "Not a directory")
        except OSError as error:
            say(f"Can't chdir to '{settings.folder}': {error.strerror}")
            return 1
        held = Held(settings, {0: EMPTY}, saved_at=machine.clock.now)

        def log(level: str, text: str) -> None:
            self._log(machine, process, held, level, text)

        log("#", "oO0OoO0OoO0Oo Redis is starting oO0OoO0OoO0Oo")
        log("#", f"Redis version={VERSION}, bits=64, commit=00000000, modified=0, pid={process.pid}, just started")
        log("#", "Configuration loaded")
        for address in settings.binds:
            where = "0.0.0.0" if address == "*" else address  # noqa: S104
            problem = bind(machine, process, where, settings.port)
            if problem is not None:
                reason = problem.strerror
                log(
                    "#",
                    f"Warning: Could not create server TCP listening socket {address}:{settings.port}: bind: {reason}",
                )
                log("#", f"Failed listening on port {settings.port} (TCP), aborting.")
                return 1
        log("*", f"Running mode=standalone, port={settings.port}.")
        log("#", "Server initialized")
        data = self._load(machine, process, held)
        if data is None:
            log("#", "Fatal error loading the DB, check server logs. Exiting.")
            return 1
        try:
            machine.view().write(
                settings.raw.get("pidfile", "/run/redis/redis-server.pid"),
                f"{process.pid}\n".encode("utf-8", "surrogateescape"),
            )
        except OSError:
            log("#", "Failed to write PID file: No such file or directory")
        loaded = any(one.data for one in data.values())
        log("*", "DB loaded from disk: 0.000 seconds" if loaded else "Ready to accept connections")
        if loaded:
            log("*", "Ready to accept connections")
        notify(machine, process, "Ready to accept connections")
        address = settings.binds[0] if settings.binds else "*"
        now = current(machine, process)
        machine.processes.put(now._replace(argv=(f"{process.argv[0]} {address}:{settings.port}",), threads=5))
        hold(machine, process, held._replace(databases=data), rss=12 << 20, share=0.0018)
        machine.schedule(300.0, "program", (process.pid, "save"))
        return None

    def _load(self, machine: Machine, process: Process, held: Held) -> Mapping[int, Database] | None:
        path = f"{held.settings.folder}/{held.settings.dump}"
        try:
            raw = machine.view(process.cred).read(path)
        except OSError as error:
            if error.errno == 2:
                return {0: EMPTY}
            self._log(
                machine,
                process,
                held,
                "#",
                f"Fatal error: can't open the RDB file {held.settings.dump} for reading: {error.strerror}",
            )
            return None
        data = decode(raw)
        if data is None:
            self._log(machine, process, held, "#", "Wrong signature trying to load DB from file")
        return data

    def _log(self, machine: Machine, process: Process, held: Held, level: str, text: str) -> None:
        now = machine.clock.time()
        line = f"{process.pid}:M {now:%d %b %Y %H:%M:%S}.{now.microsecond // 1000:03d} {level} {text}\n"
        for file in current(machine, process).files:
            if file.path == held.settings.log:
                try:
                    append(machine, file, line.encode("utf-8", "surrogateescape"))
                except OSError:
                    return

    def stop(self, machine: Machine, process: Process, number: int) -> int:
        held = process.held
        if not isinstance(held, Held):
            return 1
        name = "SIGTERM" if number == 15 else "SIGINT"
        self._log(machine, process, held, "#", f"Received {name} scheduling shutdown...")
        self._log(machine, process, held, "#", "User requested shutdown...")
        self._log(machine, process, held, "*", "Saving the final RDB snapshot before exiting.")
        notify(machine, process, "Saving the final RDB snapshot")
        if not self._save(machine, process, held):
            self._log(machine, process, held, "#", "Error trying to save the DB, but can't exit.")
        else:
            self._log(machine, process, held, "*", "DB saved on disk")
        self._log(machine, process, held, "*", "Removing the pid file.")
        self._log(machine, process, held, "#", "Redis is now ready to exit, bye bye...")
        view = machine.view()
        path = held.settings.raw.get("pidfile", "/run/redis/redis-server.pid")
        if view.exists(path):
            view.unlink(path)
        return 0

    def wake(self, machine: Machine, process: Process, argument: object) -> None:
        """The periodic snapshot, when something has changed."""
        machine.schedule(300.0, "program", (process.pid, argument))
        held = process.held
        if isinstance(held, Held) and held.dirty:
            self._snapshot(machine, process, held)

    def _snapshot(self, machine: Machine, process: Process, held: Held) -> bool:
        self._log(machine, process, held, "*", f"{held.dirty} changes in 300 seconds. Saving...")
        done = self._save(machine, process, held)
        self._log(machine, process, held, "*" if done else "#",
                  "Background saving terminated with success" if done else "Background saving error")  # fmt: skip
        dirty = 0 if done else held.dirty
        hold(
            machine,
            process,
            held._replace(failed_save=not done, dirty=dirty, saved_at=machine.clock.now if done else held.saved_at),
        )
        return done

    def _save(self, machine: Machine, process: Process, held: Held) -> bool:
        view = machine.view(process.cred)
        folder = held.settings.folder
        temporary = f"{folder}/temp-{process.pid}.rdb"
        try:
            view.write(temporary, encode(held.databases), mode=0o660)
            view.rename(temporary, f"{folder}/{held.settings.dump}")
        except OSError as error:
            self._log(machine, process, held, "#", f"Failed opening the temp RDB file temp-{process.pid}.rdb (in server root dir {folder}) for saving: {error.strerror}"
                      if error.errno != 28 else f"Write error saving DB on disk: {error.strerror}")  # fmt: skip
            if view.exists(temporary):
                view.unlink(temporary)
            return False
        return True

    # -- commands

    def serve(self, machine: Machine, process: Process, request: object, connection: object) -> object:
        """RedisRequest -> a Reply or a RedisError."""
        held = process.held
        if not isinstance(held, Held) or not isinstance(request, RedisRequest) or not request.words:
            return None
        source = connection.source if isinstance(connection, Connection) else "127.0.0.1"
        settings, session = held.settings, request.session or RedisSession()
        if (
            settings.protected
            and not settings.password
            and not settings.raw.get("bind")
            and not source.startswith("127.")
        ):
            return RedisError(
                "DENIED Redis is running in protected mode because protected mode is enabled and no password is set for the default user."
            )
        name = request.words[0].lower()
        if name == "auth":
            return _authenticate(settings, session, request.words)
        if name == "quit":
            return Status("OK")
        if settings.password and not session.allowed and request.password != settings.password:
            wrong = request.password is not None
            return RedisError(
                "WRONGPASS invalid username-password pair or user is disabled."
                if wrong
                else "NOAUTH Authentication required."
            )
        problem = _refused(held, request.words)
        if problem is not None:
            session.failed = session.queued is not None
            return problem
        if session.queued is not None and name not in ("exec", "discard", "multi", "watch"):
            session.queued.append(request.words)
            return Status("QUEUED")
        if name in ("multi", "exec", "discard"):
            return self._transaction(machine, process, name, session)
        return self._run(machine, process, request.words, session)

    def _transaction(self, machine: Machine, process: Process, name: str, session: RedisSession) -> Reply | RedisError:
        """MULTI, EXEC and DISCARD: what is queued runs together, or not at all where one command of it is none."""
        queued = session.queued
        if name == "multi":
            if queued is not None:
                return RedisError("ERR MULTI calls can not be nested")
            session.queued, session.failed = [], False
            return Status("OK")
        if queued is None:
            return RedisError(f"ERR {name.upper()} without MULTI")
        session.queued = None
        if name == "discard":
            return Status("OK")
        if session.failed:
            return RedisError("EXECABORT Transaction discarded because of previous errors.")
        return tuple(self._run(machine, current(machine, process), words, session) for words in queued)

    def _run(
        self, machine: Machine, process: Process, words: tuple[str, ...], session: RedisSession
    ) -> Reply | RedisError:
        held, name, now = process.held, words[0].lower(), machine.clock.now
        assert isinstance(held, Held)
        if name in ("save", "bgsave"):
            done = self._snapshot(machine, process, held)
            if name == "bgsave":
                return Status("Background saving started")
            return Status("OK") if done else RedisError("ERR")
        if name == "select":
            return _select(held, session, words[1])
        if name == "flushall":
            self._change(machine, process, held, {0: EMPTY})
            return Status("OK")
        if name in ADMIN:
            try:
                return administer(machine, process, words, session)
            except Refusal as refusal:
                return RedisError(str(refusal))
        before = held.databases.get(session.database, EMPTY)
        try:
            reply, after = COMMANDS[name].run(Call(before.live(now), name, words[1:], now))
        except Refusal as refusal:
            return RedisError(str(refusal))
        if after is not before:
            self._change(machine, process, held, {**held.databases, session.database: after})
        return reply

    @staticmethod
    def _change(machine: Machine, process: Process, held: Held, databases: Mapping[int, Database]) -> None:
        hold(machine, process, held._replace(databases=databases, dirty=held.dirty + 1))


def _authenticate(settings: Settings, session: RedisSession, words: tuple[str, ...]) -> Reply | RedisError:
    if not 2 <= len(words) <= 3:
        return RedisError("ERR wrong number of arguments for 'auth' command")
    if not settings.password and len(words) == 2:
        return RedisError(
            "ERR AUTH <password> called without any password configured for the default user. Are you sure your configuration is correct?"
        )
    known = words[-1] == settings.password or not settings.password
    if not known or words[-2].lower() not in ("auth", "default"):
        return RedisError("WRONGPASS invalid username-password pair or user is disabled.")
    session.allowed = True
    return Status("OK")


def _select(held: Held, session: RedisSession, text: str) -> Reply | RedisError:
    if not re.fullmatch(r"-?[0-9]{1,18}", text):
        return RedisError("ERR value is not an integer or out of range")
    if not 0 <= int(text) < int(held.settings.raw.get("databases", "16")):
        return RedisError("ERR DB index is out of range")
    session.database = int(text)
    return Status("OK")


_CONNECTION = {"select": 2, "flushall": -1, "save": 1, "bgsave": -1, "multi": 1, "exec": 1, "discard": 1}
"""What the server itself does, with its arity."""


def _refused(held: Held, words: tuple[str, ...]) -> RedisError | None:
    """Why a command is not run: it is none, has too many or too few words, or nothing can be written."""
    name, settings = words[0].lower(), held.settings
    command = COMMANDS.get(name)
    arity = command.arity if command is not None else _CONNECTION.get(name, ADMIN.get(name, 0))
    if not arity:
        shown = "".join(f"'{word}' " for word in words[1:])
        return RedisError(f"ERR unknown command '{words[0]}', with args beginning with: {shown}")
    if (len(words) != arity) if arity > 0 else len(words) < -arity:
        return RedisError(f"ERR wrong number of arguments for '{name}' command")
    if name != "flushall" and (command is None or not command.writes):
        return None
    if held.failed_save and settings.stop_writes:
        return RedisError(
            "MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk. Commands "
            "that may modify the data set are disabled, because this instance is configured to report errors during "
            "writes if RDB snapshotting fails (stop-writes-on-bgsave-error option). Please check the Redis logs for "
            "details about the RDB error."
        )
    if settings.maxmemory and settings.policy == "noeviction" and name not in FREEING:
        used = sum(len(key) + len(str(value)) for one in held.databases.values() for key, value in one.data.items())
        if used + _EMPTY_SERVER > settings.maxmemory:
            return RedisError("OOM command not allowed when used memory > 'maxmemory'.")
    return None


_EMPTY_SERVER = 900_000
"""Bytes that the server uses before it holds a key."""


PROGRAMS = {"redis-server": Redis()}

__all__ = ["PROGRAMS", "VERSION", "Held", "Redis", "RedisError", "RedisRequest"]
