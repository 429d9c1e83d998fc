"""The probe types: what can be measured on a system, and what can be expected of it.

Each backend looks in its own way, and each type has one judge; the schema, `check` and the reference are made from this
table. Every expectation that is given must hold.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from scenario_dsl.model import Parameter
from scenario_dsl.values import Value


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeType:
    """One kind of measurement.

    `exactly_one`: groups of arguments of which exactly one is given; `at_least_one`: expectations of which one must be
    there, so that the probe says something; `presence`: the argument that says whether the thing is there at all, and
    `only_of_present` what cannot be expected of a thing that is not.
    """

    name: str
    doc: str
    parameters: tuple[Parameter, ...]
    example: Mapping[str, Value]
    exactly_one: tuple[tuple[str, ...], ...] = ()
    at_least_one: tuple[str, ...] = ()
    presence: str | None = None
    only_of_present: tuple[str, ...] = ()


def _must(name: str, type_name: str, doc: str, *, choices: tuple[Value, ...] = ()) -> Parameter:
    return Parameter(name=name, type=type_name, doc=doc, required=True, choices=choices)


def _may(name: str, type_name: str, doc: str, *, choices: tuple[Value, ...] = (), default: Value = None) -> Parameter:
    return Parameter(name=name, type=type_name, doc=doc, choices=choices, default=default)


_HTTP = ProbeType(
    name="http",
    doc="An HTTP request from outside, as a client of the system makes it. Without `status`, any answer below 400.",
    example={"url": "http://localhost/health", "status": 200},
    parameters=(
        _must("url", "url", "what is asked for"),
        _may("status", "integer", "the status code of the answer"),
        _may("body_matches", "regex", "found somewhere in the answer's body"),
        _may("header", "mapping", "headers of the answer: name to a regular expression"),
        _may("within", "duration", "the longest time the answer may take"),
        _may(
            "method", "string", "the request's method", choices=("GET", "HEAD", "POST", "PUT", "DELETE"), default="GET"
        ),
        _may("host", "string", "the Host header, where it is not the address's own"),
    ),
)
_UNIT = ProbeType(
    name="unit",
    doc="The state of a systemd unit.",
    example={"name": "nginx", "state": "active"},
    at_least_one=("state", "enabled", "masked", "restarts_at_most"),
    parameters=(
        _must("name", "unit", "the unit; `.service` may be left out"),
        _may("state", "string", "its active state", choices=("active", "inactive", "failed", "activating")),
        _may("enabled", "boolean", "whether it starts at boot"),
        _may("masked", "boolean", "whether it is masked"),
        _may("restarts_at_most", "integer", "how often it may have been restarted by systemd"),
    ),
)
_FILE = ProbeType(
    name="file",
    doc="A file, directory or link: that it is there, whose it is, what it holds and who may read it.",
    example={"path": "/etc/app/secret.key", "owner": "app", "mode_at_most": "0640"},
    at_least_one=(
        "exists",
        "type",
        "owner",
        "group",
        "mode",
        "mode_at_most",
        "contains",
        "lacks",
        "size_at_most",
        "size_at_least",
        "readable_by",
        "readable_by_others",
        "target",
    ),
    presence="exists",
    only_of_present=("type", "owner", "group", "mode", "contains", "readable_by", "target", "size_at_least"),
    parameters=(
        _must("path", "path", "the file"),
        _may("exists", "boolean", "whether it is there"),
        _may("type", "string", "what it is; links are not followed", choices=("file", "directory", "link")),
        _may("owner", "user", "the user it belongs to"),
        _may("group", "user", "the group it belongs to"),
        _may("mode", "mode", "exactly these permission bits"),
        _may("mode_at_most", "mode", "no permission bit beyond these"),
        _may("contains", "regex", "found somewhere in its content"),
        _may("lacks", "regex", "found nowhere in its content"),
        _may("size_at_most", "size", "its size"),
        _may("size_at_least", "size", "its size"),
        _may("readable_by", "user", "a user who can read it, all directories above it considered"),
        _may("readable_by_others", "boolean", "whether users who neither own it nor share its group can read it"),
        _may("target", "string", "where the link points, as written"),
    ),
)
_SOCKET = ProbeType(
    name="socket",
    doc="Whether something listens on a port.",
    example={"port": 5432, "listening": True},
    presence="listening",
    only_of_present=("process", "address"),
    parameters=(
        _must("port", "port", "the port"),
        _must("listening", "boolean", "whether something listens there"),
        _may("protocol", "string", "the protocol", choices=("tcp", "udp"), default="tcp"),
        _may("address", "string", "the address it listens on"),
        _may("process", "string", "the program that listens"),
    ),
)
_PROCESS = ProbeType(
    name="process",
    doc="Processes by their command line.",
    example={"matches": "^nginx: worker", "running": True},
    presence="running",
    only_of_present=("count_at_least",),
    parameters=(
        _must("matches", "regex", "found in the command line"),
        _must("running", "boolean", "whether there is such a process"),
        _may("count_at_most", "integer", "how many there are"),
        _may("count_at_least", "integer", "how many there are"),
        _may("user", "user", "only processes of this user"),
        _may("memory_at_most", "size", "their resident memory together"),
    ),
)
_DISK = ProbeType(
    name="disk",
    doc="The space and the inodes of the file system that a path lies in.",
    example={"path": "/var/log", "used_percent_at_most": 90},
    at_least_one=(
        "used_percent_at_most",
        "used_percent_at_least",
        "free_at_least",
        "free_at_most",
        "inodes_free_at_least",
        "inodes_used_percent_at_most",
        "inodes_used_percent_at_least",
    ),
    parameters=(
        _must("path", "path", "any path in it"),
        _may("used_percent_at_most", "percent", "used space, as df shows it"),
        _may("used_percent_at_least", "percent", "used space, as df shows it"),
        _may("free_at_least", "size", "space that users can still write"),
        _may("free_at_most", "size", "space that users can still write"),
        _may("inodes_free_at_least", "integer", "inodes left"),
        _may("inodes_used_percent_at_most", "percent", "used inodes"),
        _may("inodes_used_percent_at_least", "percent", "used inodes"),
    ),
)
_MEMORY = ProbeType(
    name="memory",
    doc="The machine's memory, as `free` shows it.",
    example={"available_at_least": "1GB"},
    at_least_one=("available_at_least", "available_at_most", "used_percent_at_most"),
    parameters=(
        _may("available_at_least", "size", "memory available to new work"),
        _may("available_at_most", "size", "memory available to new work"),
        _may("used_percent_at_most", "percent", "memory that is not available, of all there is"),
    ),
)
_CRON = ProbeType(
    name="cron",
    doc="A user's cron job.",
    example={"user": "root", "command": "backup\\.sh", "present": True, "schedule": "0 3 * * *"},
    presence="present",
    only_of_present=("schedule", "succeeded_within"),
    parameters=(
        _must("user", "user", "whose table"),
        _must("command", "regex", "found in the job's command"),
        _must("present", "boolean", "whether there is such a job, not commented out"),
        _may("schedule", "string", "its five fields, or a word such as `@daily`"),
        _may("succeeded_within", "duration", "its last successful run is no longer ago than this"),
    ),
)
_USER = ProbeType(
    name="user",
    doc="An account.",
    example={"name": "deploy", "exists": True, "sudo": False},
    presence="exists",
    only_of_present=("groups", "shell", "sudo", "sudo_without_password"),
    parameters=(
        _must("name", "user", "the account"),
        _must("exists", "boolean", "whether there is such an account"),
        _may("groups", "list of user", "groups that it is in, beside its own"),
        _may("shell", "path", "its login shell"),
        _may("locked", "boolean", "whether its password is locked"),
        _may("authorized_keys_lack", "regex", "found in none of its authorized keys"),
        _may("sudo", "boolean", "whether it may become root with sudo"),
        _may("sudo_without_password", "boolean", "whether it may do so without giving a password"),
    ),
)
_SSH = ProbeType(
    name="ssh",
    doc="What an SSH server lets somebody from outside try: no answer is not what was expected, whatever that was.",
    example={"user": "deploy", "passwords": False},
    at_least_one=("passwords", "keys"),
    parameters=(
        _may("user", "user", "who wants to log in", default="root"),
        _may("port", "port", "where the server listens", default=22),
        _may("passwords", "boolean", "whether a password may be tried, be it by way of keyboard-interactive"),
        _may("keys", "boolean", "whether a key may be tried"),
    ),
)
_LOG = ProbeType(
    name="log",
    doc="Lines of a log file, or of a unit's journal. Without a count, at least one line must match.",
    example={"unit": "nginx", "matches": "emerg", "within": "5m", "count_at_most": 0},
    exactly_one=(("path", "unit"),),
    parameters=(
        _may("path", "path", "the log file"),
        _may("unit", "unit", "the unit whose journal is read"),
        _must("matches", "regex", "found in the line"),
        _may("within", "duration", "only lines no older than this"),
        _may("count_at_least", "integer", "how many lines match"),
        _may("count_at_most", "integer", "how many lines match"),
    ),
)
_SQL = ProbeType(
    name="sql",
    doc="A query to PostgreSQL. Without `equals` and `matches`, that it succeeds.",
    example={"database": "shop", "query": "select count(*) from orders", "matches": "^[1-9]"},
    parameters=(
        _must("database", "string", "the database"),
        _must("query", "string", "the query; it reads only"),
        _may("equals", "string", "the first column of the first row"),
        _may("matches", "regex", "found in the first column of the first row"),
        _may("user", "user", "the role that asks", default="postgres"),
    ),
)
_REDIS = ProbeType(
    name="redis",
    doc="A command to Redis. Without `equals` and `matches`, that it succeeds.",
    example={"command": "PING", "equals": "PONG"},
    parameters=(
        _must("command", "string", "the command; it reads only"),
        _may("equals", "string", "the answer"),
        _may("matches", "regex", "found in the answer"),
    ),
)
_DNS = ProbeType(
    name="dns",
    doc="Whether the machine itself can resolve a name, by all the means it is set up to use.",
    example={"name": "db-primary", "resolves": True, "address": "10.0.0.10"},
    presence="resolves",
    only_of_present=("address",),
    parameters=(
        _must("name", "string", "the name"),
        _must("resolves", "boolean", "whether it resolves"),
        _may("address", "string", "to which address"),
    ),
)
_CERTIFICATE = ProbeType(
    name="certificate",
    doc="A certificate in a PEM file, or the one that a server shows to who connects from outside.",
    example={"path": "/etc/ssl/certs/shop.pem", "valid": True, "valid_for_at_least": "7d"},
    exactly_one=(("path", "served"),),
    presence="valid",
    only_of_present=("valid_for_at_least",),
    parameters=(
        _may("path", "path", "the file"),
        _may("served", "url", "an https address; its server is asked by the name in it"),
        _must("valid", "boolean", "whether now lies within its dates"),
        _may("valid_for_at_least", "duration", "how long it goes on being valid"),
        _may("host", "string", "a name that it is made out for"),
        _may("matches_key", "path", "the private key that belongs to it"),
    ),
)
_FIREWALL = ProbeType(
    name="firewall",
    doc="A rule of the packet filter.",
    example={"chain": "INPUT", "rule": "--dport 5432 .*-j DROP", "present": False},
    parameters=(
        _must("chain", "string", "the chain, in the filter table"),
        _must("rule", "regex", "found in the rule as `iptables -S` prints it"),
        _must("present", "boolean", "whether there is such a rule"),
    ),
)
_CLIENT = ProbeType(
    name="client",
    doc="What the system's own clients have lately got.",
    example={"errors_at_most": 0, "within": "30s"},
    parameters=(
        _may("name", "string", "one client of the system; all of them otherwise"),
        _must("errors_at_most", "integer", "how many requests failed"),
        _may("within", "duration", "the last so long; since the episode began otherwise"),
    ),
)
_MOUNT = ProbeType(
    name="mount",
    doc="Whether something is mounted at a path.",
    example={"path": "/var/log", "mounted": True, "options": ("rw",)},
    presence="mounted",
    only_of_present=("options",),
    parameters=(
        _must("path", "path", "where"),
        _must("mounted", "boolean", "whether something is mounted there"),
        _may("options", "list of string", "options that it is mounted with"),
    ),
)
_SYSCTL = ProbeType(
    name="sysctl",
    doc="A kernel setting in force.",
    example={"key": "net.ipv4.ip_forward", "equals": "0"},
    parameters=(
        _must("key", "string", "the setting"),
        _must("equals", "string", "its value, as `sysctl -n` prints it"),
    ),
)
_LIMIT = ProbeType(
    name="limit",
    doc="A resource limit of a unit's main process.",
    example={"unit": "app", "name": "nofile", "at_least": 4096},
    parameters=(
        _must("unit", "unit", "the unit"),
        _must("name", "string", "the limit", choices=("nofile", "nproc", "memory", "core", "fsize", "stack", "as")),
        _must("at_least", "size", "the soft limit"),
    ),
)
_LATENCY = ProbeType(
    name="latency",
    doc=(
        "How long a service's requests take, from when each was due, as a multiple of what one took in the same boot "
        "while nothing else ran (there the median)."
    ),
    example={"service": "checkout", "percentile": 95, "ratio_at_most": 4},
    at_least_one=("ratio_at_most", "ratio_at_least"),
    parameters=(
        _must("service", "string", "the service"),
        _may("percentile", "integer", "of the requests of the last second", choices=(50, 90, 95, 99), default=99),
        _may("ratio_at_most", "number", "against the quiet machine"),
        _may("ratio_at_least", "number", "against the quiet machine"),
    ),
)
_THROUGHPUT = ProbeType(
    name="throughput",
    doc=(
        "What the loads that compute get done together, of what the machine could do while nothing else runs. Where "
        "none of them is there, nothing is held back."
    ),
    example={"share_at_least": 0.5},
    at_least_one=("share_at_least", "share_at_most"),
    parameters=(
        _may("loads", "list of string", "their names; all of them otherwise"),
        _may("share_at_least", "number", "between 0 and 1"),
        _may("share_at_most", "number", "between 0 and 1"),
    ),
)
_SCHEDULER = ProbeType(
    name="scheduler",
    doc="The sched_ext scheduler, as the kernel tells of it: its state, and what it has acknowledged by itself.",
    example={"state": "enabled", "profile": "priority"},
    at_least_one=("state", "profile", "acknowledged", "ejected"),
    parameters=(
        _may("state", "string", "whether one is loaded", choices=("enabled", "disabled")),
        _may("profile", "string", "the profile that it says it acts by"),
        _may("acknowledged", "boolean", "whether it acts by the last request: id, profile and generation are the same"),
        _may("ejected", "boolean", "whether kernel or watchdog had to throw one out since the world opened"),
    ),
)
NODE = _may("node", "string", "the machine of a fleet that it is about; the first one otherwise")
"""What every probe takes besides its own arguments."""
PROBES: Mapping[str, ProbeType] = MappingProxyType(
    {
        probe.name: probe
        for probe in (
            _HTTP,
            _UNIT,
            _FILE,
            _SOCKET,
            _PROCESS,
            _DISK,
            _MEMORY,
            _CRON,
            _USER,
            _SSH,
            _LOG,
            _SQL,
            _REDIS,
            _DNS,
            _CERTIFICATE,
            _FIREWALL,
            _CLIENT,
            _MOUNT,
            _SYSCTL,
            _LIMIT,
            _LATENCY,
            _THROUGHPUT,
            _SCHEDULER,
        )
    }
)
