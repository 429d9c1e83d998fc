"""The schema of a system: one healthy machine, described once."""

from __future__ import annotations

from scenario_dsl.schema_parts import (
    SCENARIO_NAME,
    Schema,
    choice,
    flag,
    free_mapping,
    many,
    mapping,
    named,
    number,
    text,
    typed,
    whole,
)

_ANY: Schema = {"description": "any value"}


def _any_text(description: str) -> Schema:
    """Text that may be empty."""
    return {**text(description), "minLength": 0}


FILE_ENTRY = mapping(
    "an entry of `files`",
    {
        "path": typed("path", "where it stands on the machine"),
        "type": choice(("file", "directory", "link"), "what it is; a file otherwise"),
        "content": _any_text("what it holds; the `files/` folder otherwise"),
        "target": text("where a link points"),
        "owner": typed("user", "whom it belongs to; root otherwise"),
        "group": typed("user", "the group it belongs to; root otherwise"),
        "mode": typed("mode", "its permission bits"),
        "size": typed("size", "its logical size; a larger one repeats the content"),
        "age": typed("duration", "how long before the opening it was last changed"),
    },
    required=("path",),
)

_MOUNT = mapping(
    "a mount",
    {
        "path": typed("path", "where it is mounted"),
        "device": text("what is mounted"),
        "fstype": text("the kind of file system"),
        "size": typed("size", "its size"),
        "inodes": whole("how many inodes it has"),
        "used": typed("size", "space taken by what is not described as files"),
        "inodes_used": whole("inodes taken by what is not described as files"),
        "options": many(text("a mount option"), "what it is mounted with"),
    },
    required=("path", "device", "fstype"),
)
_USER = mapping(
    "a user",
    {
        "name": typed("user", "its name"),
        "uid": whole("its number"),
        "gid": whole("the number of its own group"),
        "group": typed("user", "its own group"),
        "comment": _any_text("its full name"),
        "home": typed("path", "its home directory"),
        "shell": typed("path", "its login shell"),
        "groups": many(typed("user", "a group"), "its other groups"),
        "password": _any_text("its password's hash, or `!`, or `*`"),
    },
    required=("name", "uid"),
)
_GROUP = mapping(
    "a group",
    {
        "name": typed("user", "its name"),
        "gid": whole("its number"),
    },
    required=("name", "gid"),
)
_CLIENT = mapping(
    "a client",
    {
        "name": text("its name, for `client` probes"),
        "kind": choice(("http", "tcp", "transaction"), "what it does"),
        "url": typed("url", "what it asks for"),
        "target": text("the host and port that it connects to"),
        "every": typed("duration", "how often"),
        "sources": many(text("an address"), "where it comes from"),
        "paths": many(
            mapping(
                "a path of a client",
                {
                    "path": text("the path"),
                    "weight": number("how often, against the others", minimum=0),
                },
                required=("path",),
            ),
            "what it asks for, by weight",
        ),
        "agents": many(text("a user agent"), "how it calls itself"),
        "database": text("the database of a transaction"),
        "user": text("the database role of a transaction"),
        "query": text("what a transaction does"),
    },
    required=("name", "kind"),
)
_HOST = mapping(
    "a host",
    {
        "name": text("its name"),
        "address": text("its address"),
        "ports": many(
            mapping(
                "a port of a host",
                {
                    "port": typed("port", "its number"),
                    "kind": text("what answers there"),
                    "banner": text("what it says first"),
                },
                required=("port",),
            ),
            "what listens there",
        ),
    },
    required=("name", "address"),
)
_NETWORK = mapping(
    "`network`",
    {
        "interface": text("the interface's name"),
        "address": text("its address, with the prefix length"),
        "gateway": text("the default gateway"),
        "dns": {"type": ["string", "array"], "title": "an address", "description": "the name servers"},
        "mac": text("its hardware address"),
        "domain": text("the search domain"),
    },
    description="the machine's own network",
)
_MOMENT: Schema = {
    "type": ["string", "number"],
    "title": "a time",
    "description": "a time as ISO 8601, or seconds before the opening",
}
_LOG = mapping(
    "a log",
    {
        "path": typed("path", "the file"),
        "kind": choice(
            ("access", "error", "app", "worker", "postgres", "redis", "dpkg"), "what kind of lines it holds"
        ),
        "hours": number("how far back it goes, rotated files included", minimum=0),
        "every": typed("duration", "the mean time between two lines"),
        "rotated": whole("how many rotated files lie beside it, one a day"),
        "owner": typed("user", "whom it belongs to"),
        "group": typed("user", "the group it belongs to"),
        "mode": typed("mode", "its permission bits"),
    },
    required=("kind",),
)
_DATABASES = mapping(
    "`databases`",
    {
        "postgres": mapping(
            "`postgres`",
            {
                "roles": {"type": ["array", "object"], "title": "roles", "description": "the roles"},
                "databases": free_mapping(
                    "databases",
                    mapping(
                        "a database",
                        {
                            "owner": text("the role that owns it"),
                            "tables": free_mapping(
                                "tables",
                                mapping(
                                    "a table",
                                    {
                                        "columns": {
                                            "type": ["array", "object"],
                                            "title": "columns",
                                            "description": "its columns",
                                        },
                                        "rows": many(_ANY, "its rows"),
                                    },
                                    required=("columns",),
                                ),
                                "its tables by name",
                            ),
                        },
                    ),
                    "the databases by name",
                ),
            },
            description="what PostgreSQL holds",
        ),
        "redis": free_mapping("`redis`", _ANY, "what Redis holds: key to value"),
    },
    description="what the databases hold",
)
_PROCESS: Schema = {
    **mapping(
        "a process",
        {
            "argv": many(text("an argument"), "its command line", at_least=1),
            "user": typed("user", "whose it is"),
            "rss": typed("size", "its resident memory"),
        },
        required=("argv",),
    )
}

_IMAGE = mapping(
    "`image`",
    {
        "suite": text("the Debian release"),
        "packages": many(text("a package"), "what is installed, with what it depends on", at_least=1),
        "distribution": many(text("a pattern of paths"), "described files that the packages bring: theirs stay"),
        "without": many(typed("path", "a path"), "what the packages bring and this machine does not have"),
        "files": many(FILE_ENTRY, "what only the image has: programs that do what the described ones do"),
    },
    required=("suite", "packages"),
    description="how a container's image of it is made from packages",
)
_SERVICE = mapping(
    "a service",
    {
        "name": text("its name, for `latency` probes"),
        "group": text("the control group it runs in"),
        "every": typed("duration", "how often somebody asks something of it"),
        "work": typed("duration", "how long a processor needs for one answer"),
    },
    required=("name", "group", "every", "work"),
)
_KERNEL = mapping(
    "`kernel`",
    {
        "suite": text("the Debian release"),
        "backports": text("the release that the kernel comes from"),
        "release": text("the line of kernels that is preferred, such as 6.18"),
        "packages": many(text("a package"), "what is installed, with what it depends on", at_least=1),
        "objects": many(typed("path", "a BPF source among the files"), "schedulers that can be loaded", at_least=1),
        "programs": free_mapping("`programs`", typed("path", "a C source among the files"), "path to its source"),
        "services": many(_SERVICE, "what runs while nothing is broken", at_least=1),
    },
    required=("suite", "backports", "release", "packages", "objects", "services"),
    description="how a virtual machine with sched_ext is made, and what it serves",
)


def system_schema(probe: Schema) -> Schema:
    """The schema of `system.yml`. `probe`: the schema of a probe."""
    return mapping(
        "the system",
        {
            "system": named(SCENARIO_NAME, "the system's name, that of its folder"),
            "title": text("one line that says what it is"),
            "doc": text("what it is for"),
            "hostname": text("the machine's host name"),
            "start": text("the time at which a world opens, as ISO 8601"),
            "uptime": typed("duration", "how long the machine has been up at the opening"),
            "cpus": whole("how many processors it has", minimum=1, maximum=1024),
            "cpu_model": text("the processor's name"),
            "memory": mapping(
                "`memory`",
                {
                    "total": typed("size", "the memory it has"),
                    "swap": typed("size", "its swap space"),
                    "cached": typed("size", "memory used for files"),
                },
                required=("total",),
                description="the machine's memory",
            ),
            "mounts": many(_MOUNT, "its file systems", at_least=1),
            "users": many(_USER, "its accounts"),
            "groups": many(_GROUP, "its groups"),
            "units": mapping(
                "`units`",
                {
                    "enabled": many(typed("unit", "a unit"), "what starts at boot"),
                    "running": many(typed("unit", "a unit"), "what runs, in the order of its start"),
                },
                description="its systemd units; what they are stands in their files",
            ),
            "processes": many(_PROCESS, "processes that belong to no unit"),
            "clients": many(_CLIENT, "who uses it"),
            "names": free_mapping("`names`", _ANY, "host name to address, as the DNS server answers"),
            "nodes": free_mapping(
                "`nodes`",
                mapping(
                    "a machine of the fleet",
                    {
                        "system": named(SCENARIO_NAME, "the system that it is"),
                        "address": text("its address in the network of the first one"),
                    },
                    required=("system", "address"),
                ),
                "the other machines of a fleet, by their host names",
                names=SCENARIO_NAME,
            ),
            "hosts": many(_HOST, "other machines that it can reach"),
            "network": _NETWORK,
            "firewall": many({"type": "string"}, "lines as iptables-save prints them"),
            "sysctl": free_mapping("`sysctl`", _ANY, "kernel settings that differ from the usual"),
            "databases": _DATABASES,
            "programs": free_mapping("`programs`", text("a program"), "path of a binary to the program that it is"),
            "logs": many(_LOG, "logs with a history, written by rule"),
            "volatile": many(text("a pattern of paths"), "what normal life changes, as shell patterns"),
            "logins": many(
                mapping(
                    "a login",
                    {
                        "user": text("who"),
                        "from": text("from where"),
                        "at": _MOMENT,
                        "until": _MOMENT,
                        "tty": text("the terminal"),
                        "failed": flag("the password was wrong"),
                    },
                    required=("user", "at"),
                ),
                "who logged in before",
            ),
            "packages": many(
                mapping(
                    "a package",
                    {
                        "name": text("its name"),
                        "version": text("its version"),
                    },
                    required=("name",),
                ),
                "what is installed",
            ),
            "image": _IMAGE,
            "kernel": _KERNEL,
            "absent": many(text("a command"), "commands that this machine does not have"),
            "files": many(FILE_ENTRY, "files with attributes, beside those of the `files/` folder"),
            "healthy": many(probe, "what holds while nothing is broken", at_least=1),
        },
        required=("system", "title", "hostname", "memory", "mounts", "healthy"),
        description="A healthy machine, described once.",
    )
