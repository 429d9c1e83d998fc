"""Redis's commands about the server itself: CONFIG, CLIENT, INFO and their like."""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Mapping

from runners.sim.machine import Machine, mix
from runners.sim.memory import memory
from runners.sim.processes import Process
from runners.sim.programs.descriptors import hold
from runners.sim.programs.redis_call import Refusal, encoding
from runners.sim.programs.redis_config import KNOWN, VERSION, parse, refused_value, rewritten
from runners.sim.programs.redis_data import EMPTY, Held, RedisSession, Reply, Status
from runners.sim.systemd.units import unit_file

_OK = Status("OK")


def administer(machine: Machine, process: Process, words: tuple[str, ...], session: RedisSession) -> Reply:
    """Run one of `ADMIN`. Refusal with the error's text."""
    held, name = process.held, words[0].lower()
    assert isinstance(held, Held)
    if name == "info":
        return _info(machine, process, held, words[1:])
    if name == "role":
        return ("master", 0, ())
    if name == "time":
        now = machine.clock.now
        return (str(int(now)), str(int(now % 1 * 1_000_000)))
    if name == "lastsave":
        return int(held.saved_at)
    if name == "randomkey":
        keys = sorted(held.databases.get(session.database, EMPTY).live(machine.clock.now).data)
        return keys[int(machine.random("redis") * len(keys))] if keys else None
    if name == "debug":
        raise Refusal(
            'ERR DEBUG command not allowed. If the enable-debug-command option is set to "local", you can run it from a '
            "local connection, otherwise you need to set this option in the configuration file, and then restart the "
            "server."
        )
    verb = words[1].lower()
    subcommand = _SUBCOMMANDS.get((name, verb))
    if subcommand is None:
        raise Refusal(f"ERR unknown subcommand '{words[1]}'. Try {name.upper()} HELP.")
    fewest, most, run = subcommand
    if not fewest <= len(words) - 2 <= most:
        raise Refusal(f"ERR wrong number of arguments for '{name}|{verb}' command")
    return run(machine, process, held, words[2:], session)


def _config_get(_machine: Machine, _process: Process, held: Held, words: tuple[str, ...], _s: RedisSession) -> Reply:
    values = {"port": "6379", "maxmemory": "0", "maxmemory-policy": "noeviction", "dir": "/", "dbfilename": "dump.rdb",
              "stop-writes-on-bgsave-error": "yes", "maxclients": "10000", "timeout": "0", "requirepass": "",
              "databases": "16", "appendonly": "no", **held.settings.raw}  # fmt: skip
    values["maxmemory"] = str(held.settings.maxmemory)
    found = [key for key in values if any(fnmatch.fnmatchcase(key, word.lower()) for word in words)]
    return tuple(part for key in found for part in (key, values[key]))


_IMMUTABLE = frozenset({
    "databases", "daemonize", "supervised", "pidfile", "logfile", "tcp-backlog", "unixsocket", "unixsocketperm",
    "always-show-logo", "set-proc-title",
})  # fmt: skip
_PROTECTED = frozenset({"dir", "dbfilename"})


def _config_set(
    machine: Machine, process: Process, held: Held, words: tuple[str, ...], _session: RedisSession
) -> Reply:
    """All the pairs or none."""
    if len(words) % 2:
        raise Refusal("ERR wrong number of arguments for 'config|set' command")
    changed = dict(zip((word.lower() for word in words[::2]), words[1::2], strict=True))
    for name, value in changed.items():
        if name not in KNOWN or name in ("include", "rename-command"):
            raise Refusal(f"ERR Unknown option or number of arguments for CONFIG SET - '{name}'")
        problem = refused_value(name, value)
        if name in _IMMUTABLE:
            problem = "can't set immutable config"
        elif name in _PROTECTED:
            problem = "can't set protected config"
        if problem:
            raise Refusal(f"ERR CONFIG SET failed (possibly related to argument '{name}') - {problem}")
    settings = parse("", held.settings.path, tuple({**held.settings.raw, **changed}.items()))
    hold(machine, process, held._replace(settings=settings))
    return _OK


def _config_rewrite(
    machine: Machine, process: Process, held: Held, _words: tuple[str, ...], _session: RedisSession
) -> Reply:
    """The file as the server has it now; a unit that keeps the system read-only keeps this file, too."""
    path = held.settings.path
    if not path:
        raise Refusal("ERR The server is running without a config file")
    view = machine.view(process.cred)
    try:
        if process.unit is not None and _sealed(machine, process.unit, path):
            raise OSError(30, "Read-only file system")
        view.write(path, rewritten(view.text(path), held.settings.raw).encode("utf-8", "surrogateescape"))
    except OSError as error:
        raise Refusal(f"ERR Rewriting config file: {error.strerror}") from None
    return _OK


def _sealed(machine: Machine, unit: str, path: str) -> bool:
    file = unit_file(machine, unit)
    level = file.get("Service", "ProtectSystem", "no").lower()
    open_to = [
        word.lstrip("-+") for key in ("ReadWritePaths", "ReadWriteDirectories") for word in file.words("Service", key)
    ]
    if any(path.startswith(f"{folder.rstrip('/')}/") for folder in open_to):
        return False
    return level == "strict" or (level == "full" and path.startswith(("/etc/", "/usr/", "/boot/")))


def _client_list(
    _machine: Machine, _process: Process, held: Held, _words: tuple[str, ...], session: RedisSession
) -> Reply:
    return (
        f"id=7 addr=127.0.0.1:41822 laddr=127.0.0.1:{held.settings.port} fd=9 name={session.name} age=0 idle=0 flags=N "
        f"db={session.database} sub=0 psub=0 ssub=0 multi=-1 qbuf=26 qbuf-free=20448 argv-mem=10 multi-mem=0 rbs=1024 "
        "rbp=0 obl=0 oll=0 omem=0 tot-mem=22298 events=r cmd=client|list user=default redir=-1 resp=2\n"
    )


def _client_kill(
    _machine: Machine, _process: Process, _held: Held, words: tuple[str, ...], _session: RedisSession
) -> Reply:
    """Connections here last one command: there is never another one to close."""
    if len(words) == 1:
        raise Refusal("ERR No such client")
    if len(words) % 2 or any(
        word.lower() not in ("id", "addr", "laddr", "user", "type", "skipme") for word in words[::2]
    ):
        raise Refusal("ERR syntax error")
    return 0


def _client_setname(
    _machine: Machine, _process: Process, _held: Held, words: tuple[str, ...], session: RedisSession
) -> Reply:
    if any(not "!" <= letter <= "~" for letter in words[0]):
        raise Refusal("ERR Client names cannot contain spaces, newlines or special characters.")
    session.name = words[0]
    return _OK


def _object(machine: Machine, _process: Process, held: Held, words: tuple[str, ...], session: RedisSession) -> Reply:
    value = held.databases.get(session.database, EMPTY).live(machine.clock.now).data.get(words[0])
    return None if value is None else encoding(value)


def _usage(machine: Machine, _process: Process, held: Held, words: tuple[str, ...], session: RedisSession) -> Reply:
    value = held.databases.get(session.database, EMPTY).live(machine.clock.now).data.get(words[0])
    # The entry and the key's own string, each in an allocation of a power of two or half way.
    return None if value is None else 48 + (len(words[0]) + len(str(value)) if encoding(value) != "int" else 0) // 8 * 8


_Run = Callable[[Machine, Process, Held, tuple[str, ...], RedisSession], Reply]
_SUBCOMMANDS: Mapping[tuple[str, str], tuple[int, int, _Run]] = {
    ("config", "get"): (1, 99, _config_get),
    ("config", "set"): (2, 99, _config_set),
    ("config", "resetstat"): (0, 0, lambda *_: _OK),
    ("config", "rewrite"): (0, 0, _config_rewrite),
    ("client", "list"): (0, 99, _client_list),
    ("client", "kill"): (1, 99, _client_kill),
    ("client", "setname"): (1, 1, _client_setname),
    ("client", "getname"): (0, 0, lambda _m, _p, _h, _w, session: session.name or None),
    ("client", "id"): (0, 0, lambda *_: 7),
    ("slowlog", "get"): (0, 1, lambda *_: ()),
    ("slowlog", "len"): (0, 0, lambda *_: 0),
    ("slowlog", "reset"): (0, 0, lambda *_: _OK),
    ("memory", "usage"): (1, 3, _usage),
    ("object", "encoding"): (1, 1, _object),
    ("object", "refcount"): (1, 1, lambda *call: None if _object(*call) is None else 1),
    ("object", "idletime"): (1, 1, lambda *call: None if _object(*call) is None else 0),
    ("acl", "whoami"): (0, 0, lambda *_: "default"),
}
ADMIN: Mapping[str, int] = {
    "info": -1, "role": 1, "time": 1, "lastsave": 1, "randomkey": 1, "debug": -2,
    **{name: -2 for name, _ in _SUBCOMMANDS},
}  # fmt: skip
"""The commands of this module, with their arity."""


def _info(machine: Machine, process: Process, held: Held, sections: tuple[str, ...]) -> str:
    up = int(machine.clock.now - process.started)
    now = machine.clock.now
    keyspace = [
        f"db{number}:keys={len(one.data)},expires={len(one.expires)},avg_ttl={_average(one.expires, now)}"
        for number, one in sorted((number, one.live(now)) for number, one in held.databases.items())
        if one.data
    ]
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
        "keyspace": keyspace,
    }  # fmt: skip
    wanted = [name.lower() for name in sections if name.lower() not in ("all", "default", "everything")] or list(lists)
    blocks = [
        f"# {name.capitalize()}\r\n" + "".join(line + "\r\n" for line in lists[name])
        for name in wanted
        if name in lists
    ]
    return "\r\n".join(blocks)


def _average(expires: Mapping[str, float], now: float) -> int:
    """The mean time to live in milliseconds."""
    return int(sum(at - now for at in expires.values()) * 1000 / len(expires)) if expires else 0


def _identity(machine: Machine, process: Process) -> str:
    """The forty hexadecimal digits that a server gives itself at its start."""
    return "".join(f"{mix(f'{machine.seed}:{process.pid}:{process.started}:{part}'):016x}" for part in range(3))[:40]
