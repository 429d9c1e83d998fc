"""Redis 7.0: a data set in memory, its snapshot on disk, and the commands that clients use."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from runners.sim.lifecycle import open_file
from runners.sim.machine import Machine, Program, Say, mix
from runners.sim.memory import memory
from runners.sim.network.connect import Connection
from runners.sim.processes import Process
from runners.sim.programs.descriptors import append, bind, current, hold
from runners.sim.programs.redis_config import KNOWN, VERSION, ConfigError, Settings, overrides, parse
from runners.sim.programs.redis_data import COMMANDS, RedisError, RedisRequest, Reply, Stored, decode, encode
from runners.sim.systemd.service import notify


class Held(NamedTuple):
    """The server's memory. `failed_save`: did the last snapshot fail; `dirty`: changes since the last good one."""

    settings: Settings
    data: Mapping[str, Stored]
    failed_save: bool = False
    dirty: int = 0
    saved_at: float = 0.0


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
        held = Held(settings, {}, saved_at=machine.clock.now)

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
        log("*", "DB loaded from disk: 0.000 seconds" if data else "Ready to accept connections")
        if data:
            log("*", "Ready to accept connections")
        notify(machine, process, "Ready to accept connections")
        address = settings.binds[0] if settings.binds else "*"
        now = current(machine, process)
        machine.processes.put(now._replace(argv=(f"{process.argv[0]} {address}:{settings.port}",), threads=5))
        hold(machine, process, held._replace(data=data), rss=12 << 20, share=0.0018)
        machine.schedule(300.0, "program", (process.pid, "save"))
        return None

    def _load(self, machine: Machine, process: Process, held: Held) -> Mapping[str, Stored] | None:
        path = f"{held.settings.folder}/{held.settings.dump}"
        try:
            raw = machine.view(process.cred).read(path)
        except OSError as error:
            if error.errno == 2:
                return {}
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
            view.write(temporary, encode(held.data), mode=0o660)
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
        settings = held.settings
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
            if not settings.password:
                return RedisError(
                    "ERR AUTH <password> called without any password configured for the default user. Are you sure your configuration is correct?"
                )
            return (
                "OK"
                if request.words[-1] == settings.password
                else RedisError("WRONGPASS invalid username-password pair or user is disabled.")
            )
        if settings.password and request.password != settings.password:
            wrong = request.password is not None
            return RedisError(
                "WRONGPASS invalid username-password pair or user is disabled."
                if wrong
                else "NOAUTH Authentication required."
            )
        if name == "info":
            return self._info(machine, process, held, request.words[1:])
        if name in ("save", "bgsave"):
            done = self._snapshot(machine, process, held)
            if name == "bgsave":
                return "Background saving started"
            return "OK" if done else RedisError("ERR")
        if name in ("config", "client", "memory", "slowlog", "debug"):
            return self._admin(machine, process, held, request.words)
        command = COMMANDS.get(name)
        if command is None:
            shown = " ".join(f"'{word}'" for word in request.words[1:])
            return RedisError(
                f"ERR unknown command '{request.words[0]}', with args beginning with: {shown} ".rstrip(" ") + " "
            )
        fewest, writes, run = command
        if len(request.words) - 1 < fewest:
            return RedisError(f"ERR wrong number of arguments for '{name}' command")
        if writes and held.failed_save and settings.stop_writes:
            return RedisError(
                "MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk. Commands "
                "that may modify the data set are disabled, because this instance is configured to report errors during "
                "writes if RDB snapshotting fails (stop-writes-on-bgsave-error option). Please check the Redis logs for "
                "details about the RDB error."
            )
        if writes and settings.maxmemory and name not in ("del", "lpop", "rpop", "unlink", "flushall"):
            used = sum(len(key) + len(str(value)) for key, value in held.data.items()) + (1 << 20)
            if used > settings.maxmemory and settings.policy == "noeviction":
                return RedisError("OOM command not allowed when used memory > 'maxmemory'.")
        reply, data = run(held.data, request.words[1:])
        if data is not held.data:
            hold(machine, process, held._replace(data=data, dirty=held.dirty + 1))
        return reply

    def _admin(self, machine: Machine, process: Process, held: Held, words: tuple[str, ...]) -> Reply | RedisError:
        name, verb = words[0].lower(), words[1].lower() if len(words) > 1 else ""
        if name == "config" and verb == "get" and len(words) > 2:
            pattern = words[2].replace("*", ".*")
            values = {"port": "6379", "maxmemory": "0", "maxmemory-policy": "noeviction", "dir": "/", "dbfilename": "dump.rdb",
                      "stop-writes-on-bgsave-error": "yes", "maxclients": "10000", "timeout": "0", **held.settings.raw}  # fmt: skip
            values["maxmemory"] = str(held.settings.maxmemory)
            return tuple(part for key, value in values.items() if re.fullmatch(pattern, key) for part in (key, value))
        if name == "config" and verb == "set" and len(words) > 3:
            if words[2].lower() not in KNOWN:
                return RedisError(f"ERR Unknown option or number of arguments for CONFIG SET - '{words[2]}'")
            raw = {**held.settings.raw, words[2].lower(): words[3]}
            settings = parse("", held.settings.path, tuple(raw.items()))
            hold(machine, process, held._replace(settings=settings))
            return "OK"
        if name == "client" and verb == "list":
            return f"id=7 addr=127.0.0.1:41822 laddr=127.0.0.1:{held.settings.port} fd=9 name= age=0 idle=0 flags=N db=0 cmd=client|list user=default\n"
        if name == "slowlog":
            return ()
        if name == "memory":
            return 1048576
        return RedisError(f"ERR unknown subcommand '{verb}'. Try {name.upper()} HELP.")

    def _info(self, machine: Machine, process: Process, held: Held, sections: tuple[str, ...]) -> str:
        up = int(machine.clock.now - process.started)
        lists = {
            "server": [f"redis_version:{VERSION}", "redis_mode:standalone", "os:Linux 6.1.0-18-amd64 x86_64", f"process_id:{process.pid}",
                       f"tcp_port:{held.settings.port}", f"uptime_in_seconds:{up}", f"uptime_in_days:{up // 86400}",
                       f"executable:{process.exe}", f"config_file:{held.settings.path}"],
            "clients": ["connected_clients:4", "maxclients:10000", "blocked_clients:1"],
            "memory": [f"used_memory:{process.rss // 8}", f"used_memory_human:{process.rss / 8 / 1048576:.2f}M", f"used_memory_rss:{process.rss}",
                       f"total_system_memory:{memory(machine).total}", f"maxmemory:{held.settings.maxmemory}", f"maxmemory_policy:{held.settings.policy}"],
            "persistence": ["loading:0", f"rdb_changes_since_last_save:{held.dirty}", "rdb_bgsave_in_progress:0", f"rdb_last_save_time:{int(held.saved_at)}",
                            f"rdb_last_bgsave_status:{'err' if held.failed_save else 'ok'}", "aof_enabled:0"],
            "stats": [f"total_connections_received:{up // 40}", f"total_commands_processed:{up * 2}", "rejected_connections:0", "evicted_keys:0"],
            "replication": ["role:master", "connected_slaves:0", "master_failover_state:no-failover",
                            f"master_replid:{_identity(machine, process)}", f"master_replid2:{'0' * 40}",
                            "master_repl_offset:0", "second_repl_offset:-1", "repl_backlog_active:0",
                            "repl_backlog_size:1048576", "repl_backlog_first_byte_offset:0", "repl_backlog_histlen:0"],
            "keyspace": [f"db0:keys={len(held.data)},expires=0,avg_ttl=0"] if held.data else [],
        }  # fmt: skip
        wanted = [name.lower() for name in sections if name.lower() not in ("all", "default", "everything")] or list(
            lists
        )
        blocks = [
            f"# {name.capitalize()}\r\n" + "".join(line + "\r\n" for line in lists[name])
            for name in wanted
            if name in lists
        ]
        return "\r\n".join(blocks)


__all__ = ["PROGRAMS", "VERSION", "Held", "Redis", "RedisError", "RedisRequest"]


def _identity(machine: Machine, process: Process) -> str:
    """The forty hexadecimal digits that a server gives itself at its start."""
    return "".join(f"{mix(f'{machine.seed}:{process.pid}:{process.started}:{part}'):016x}" for part in range(3))[:40]


PROGRAMS = {"redis-server": Redis()}
