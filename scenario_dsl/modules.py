"""The Ansible modules that a fault may use, with the arguments of theirs that every backend takes.

Names and meanings are Ansible's own (`ansible-doc ansible.builtin.copy`, and so on), all of them brought by
ansible-core itself. What is not listed is refused, so that a fault never means more on one backend than on another.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from scenario_dsl.model import Parameter
from scenario_dsl.values import Value


@dataclass(frozen=True, slots=True, kw_only=True)
class ModuleType:
    """One module. `exactly_one`: groups of arguments of which exactly one is given."""

    name: str
    doc: str
    parameters: tuple[Parameter, ...]
    exactly_one: tuple[tuple[str, ...], ...] = ()


def _must(name: str, type_name: str, doc: str, *, choices: tuple[Value, ...] = ()) -> Parameter:
    return Parameter(name=name, type=type_name, doc=doc, required=True, choices=choices)


def _may(name: str, type_name: str, doc: str, *, choices: tuple[Value, ...] = ()) -> Parameter:
    return Parameter(name=name, type=type_name, doc=doc, choices=choices)


_OWNERSHIP = (
    _may("owner", "user", "the user it shall belong to"),
    _may("group", "user", "the group it shall belong to"),
    _may("mode", "mode", "its permission bits"),
)
_PRESENCE = ("present", "absent")
_COPY = ModuleType(
    name="copy",
    doc="Write a file, or copy one that is on the machine.",
    exactly_one=(("content", "src"),),
    parameters=(
        _must("dest", "path", "the file to write"),
        _may("content", "string", "what it shall hold"),
        _may("src", "path", "the file on the machine to copy"),
        _may("remote_src", "boolean", "must be true with `src`: the source is on the machine"),
        _may("force", "boolean", "false: leave a file that is there as it is"),
        *_OWNERSHIP,
    ),
)
_FILE = ModuleType(
    name="file",
    doc="Make, change or remove files, directories and links.",
    parameters=(
        _must("path", "path", "the file"),
        _may("state", "string", "what it shall be", choices=("file", "directory", "link", "hard", "touch", "absent")),
        _may("src", "string", "what a link points to"),
        _may("recurse", "boolean", "owner, group and mode also for everything below"),
        _may("force", "boolean", "make a link even where its target is missing or a file is in the way"),
        _may("follow", "boolean", "follow a link that is there"),
        _may("access_time", "string", "`preserve` or `now`, or a time as Ansible writes it"),
        _may("modification_time", "string", "`preserve` or `now`, or a time as Ansible writes it"),
        *_OWNERSHIP,
    ),
)
_LINEINFILE = ModuleType(
    name="lineinfile",
    doc="See that one line is in a file, or is not.",
    parameters=(
        _must("path", "path", "the file"),
        _may("line", "string", "the line"),
        _may("regexp", "regex", "the line to replace, or to remove"),
        _may("search_string", "string", "the same, as text that the line holds"),
        _may("state", "string", "whether it shall be there", choices=_PRESENCE),
        _may("insertafter", "string", "a regular expression, or `EOF`"),
        _may("insertbefore", "string", "a regular expression, or `BOF`"),
        _may("firstmatch", "boolean", "insert at the first match instead of the last"),
        _may("backrefs", "boolean", "the line may use groups of `regexp`"),
        _may("create", "boolean", "make the file where it is missing"),
        *_OWNERSHIP,
    ),
)
_BLOCKINFILE = ModuleType(
    name="blockinfile",
    doc="See that a marked block of lines is in a file, or is not.",
    parameters=(
        _must("path", "path", "the file"),
        _may("block", "string", "the lines"),
        _may("marker", "string", "the marking lines, with `{mark}` in them"),
        _may("marker_begin", "string", "what `{mark}` is at the beginning"),
        _may("marker_end", "string", "what `{mark}` is at the end"),
        _may("state", "string", "whether it shall be there", choices=_PRESENCE),
        _may("insertafter", "string", "a regular expression, or `EOF`"),
        _may("insertbefore", "string", "a regular expression, or `BOF`"),
        _may("create", "boolean", "make the file where it is missing"),
        *_OWNERSHIP,
    ),
)
_REPLACE = ModuleType(
    name="replace",
    doc="Replace every match of a regular expression in a file.",
    parameters=(
        _must("path", "path", "the file"),
        _must("regexp", "regex", "what to replace"),
        _may("replace", "string", "with what; nothing otherwise"),
        _may("after", "regex", "only after this"),
        _may("before", "regex", "only before this"),
        *_OWNERSHIP,
    ),
)
_SYSTEMD = ModuleType(
    name="systemd",
    doc="Start, stop, enable or mask a unit.",
    parameters=(
        _may("name", "unit", "the unit"),
        _may("state", "string", "what it shall do", choices=("started", "stopped", "restarted", "reloaded")),
        _may("enabled", "boolean", "whether it starts at boot"),
        _may("masked", "boolean", "whether it is masked"),
        _may("daemon_reload", "boolean", "read unit files anew first"),
        _may("no_block", "boolean", "do not wait for the unit"),
    ),
)
_SERVICE = ModuleType(
    name="service",
    doc="Start, stop or enable a service.",
    parameters=(
        _must("name", "unit", "the service"),
        _may("state", "string", "what it shall do", choices=("started", "stopped", "restarted", "reloaded")),
        _may("enabled", "boolean", "whether it starts at boot"),
    ),
)
_CRON = ModuleType(
    name="cron",
    doc="A job in a user's cron table, or in a file of /etc/cron.d.",
    parameters=(
        _must("name", "string", "the comment that marks the job, or the variable's name"),
        _may("job", "string", "the command, or the variable's value"),
        _may("user", "user", "whose table"),
        _may("minute", "string", "the first field"),
        _may("hour", "string", "the second field"),
        _may("day", "string", "the third field"),
        _may("month", "string", "the fourth field"),
        _may("weekday", "string", "the fifth field"),
        _may(
            "special_time",
            "string",
            "instead of the five fields",
            choices=("reboot", "hourly", "daily", "weekly", "monthly", "yearly", "annually"),
        ),
        _may("disabled", "boolean", "leave the job in the table, commented out"),
        _may("env", "boolean", "set a variable instead of a job"),
        _may("cron_file", "string", "a file of /etc/cron.d instead of the user's table"),
        _may("state", "string", "whether it shall be there", choices=_PRESENCE),
    ),
)
_USER = ModuleType(
    name="user",
    doc="An account.",
    parameters=(
        _must("name", "user", "the account"),
        _may("state", "string", "whether it shall be there", choices=_PRESENCE),
        _may("uid", "integer", "its number"),
        _may("group", "user", "its own group"),
        _may("groups", "list of user", "its other groups"),
        _may("append", "boolean", "add to its groups instead of replacing them"),
        _may("shell", "path", "its login shell"),
        _may("home", "path", "its home directory"),
        _may("comment", "string", "its full name"),
        _may("password", "string", "the hash of its password"),
        _may("password_lock", "boolean", "lock the password"),
        _may("update_password", "string", "when to set it", choices=("always", "on_create")),
        _may("system", "boolean", "a system account"),
        _may("create_home", "boolean", "make the home directory"),
        _may("move_home", "boolean", "move the old home directory"),
        _may("non_unique", "boolean", "the number may be taken already"),
        _may("remove", "boolean", "remove its directories too"),
        _may("force", "boolean", "remove it even while it is logged in"),
        _may("expires", "number", "when it expires, in seconds since 1970; -1 for never"),
    ),
)
_GROUP = ModuleType(
    name="group",
    doc="A group.",
    parameters=(
        _must("name", "user", "the group"),
        _may("state", "string", "whether it shall be there", choices=_PRESENCE),
        _may("gid", "integer", "its number"),
        _may("system", "boolean", "a system group"),
    ),
)
_IPTABLES = ModuleType(
    name="iptables",
    doc="A rule of the packet filter, a chain's policy, or an emptied chain.",
    parameters=(
        _may("chain", "string", "the chain"),
        _may("table", "string", "the table", choices=("filter", "nat", "mangle", "raw", "security")),
        _may("state", "string", "whether the rule shall be there", choices=_PRESENCE),
        _may("action", "string", "where a new rule goes", choices=("append", "insert")),
        _may("rule_num", "integer", "the place of an inserted rule"),
        _may("protocol", "string", "the protocol"),
        _may("source", "string", "the address it comes from"),
        _may("destination", "string", "the address it goes to"),
        _may("source_port", "string", "the port it comes from"),
        _may("destination_port", "string", "the port it goes to"),
        _may("destination_ports", "list of string", "several ports it goes to"),
        _may("in_interface", "string", "the interface it comes in by"),
        _may("out_interface", "string", "the interface it goes out by"),
        _may("ctstate", "list of string", "states of its connection"),
        _may("match", "list of string", "extensions to match with"),
        _may("limit", "string", "how many packets match, as `5/minute`"),
        _may("comment", "string", "a comment on the rule"),
        _may("jump", "string", "what is done with it"),
        _may("reject_with", "string", "the answer to what is rejected"),
        _may("to_ports", "string", "the port it is redirected to"),
        _may("to_destination", "string", "where it is translated to"),
        _may("to_source", "string", "from where it seems to come"),
        _may("icmp_type", "string", "the kind of ICMP"),
        _may("policy", "string", "the chain's policy", choices=("ACCEPT", "DROP", "QUEUE", "RETURN")),
        _may("flush", "boolean", "empty the chain, or the table"),
        _may("chain_management", "boolean", "make or remove the chain itself"),
        _may("ip_version", "string", "the address family", choices=("ipv4", "ipv6")),
        _may("wait", "string", "how long to wait for the lock, in seconds"),
    ),
)
_PROGRAM = (
    _may("chdir", "path", "the working folder"),
    _may("creates", "path", "skip the task where this exists"),
    _may("removes", "path", "skip the task where this does not exist"),
    _may("strip_empty_ends", "boolean", "strip empty lines at the end of what it prints"),
)
_COMMAND = ModuleType(
    name="command",
    doc="Run a program, without a shell.",
    exactly_one=(("argv", "cmd"),),
    parameters=(
        _may("argv", "list of string", "the program and its arguments"),
        _may("cmd", "shell", "the same as one text, split at spaces"),
        *_PROGRAM,
    ),
)
_SHELL = ModuleType(
    name="shell",
    doc="Run shell text.",
    parameters=(
        _must("cmd", "shell", "the text"),
        _may("executable", "path", "the shell; /bin/sh otherwise"),
        *_PROGRAM,
    ),
)
_STAT = ModuleType(
    name="stat",
    doc="Look at a file, for `register`.",
    parameters=(
        _must("path", "path", "the file"),
        _may("follow", "boolean", "follow links"),
        _may("get_checksum", "boolean", "also its checksum"),
        _may("get_mime", "boolean", "also its MIME type"),
        _may("get_attributes", "boolean", "also its attributes"),
        _may(
            "checksum_algorithm",
            "string",
            "which checksum",
            choices=("md5", "sha1", "sha224", "sha256", "sha384", "sha512"),
        ),
    ),
)
_SLURP = ModuleType(
    name="slurp",
    doc="Read a file, for `register`; its content comes in base64.",
    parameters=(_must("src", "path", "the file"),),
)
_WAIT_FOR = ModuleType(
    name="wait_for",
    doc="Wait for a port or a file, or just wait.",
    parameters=(
        _may("port", "port", "the port"),
        _may("host", "string", "the machine; this one otherwise"),
        _may("path", "path", "the file"),
        _may("search_regex", "regex", "found in the file, or read from the port"),
        _may("state", "string", "what to wait for", choices=("present", "absent", "started", "stopped", "drained")),
        _may("timeout", "integer", "give up after so many seconds"),
        _may("delay", "integer", "begin after so many seconds"),
        _may("sleep", "integer", "seconds between two looks"),
        _may("connect_timeout", "integer", "seconds that one attempt may take"),
        _may("msg", "string", "the message when giving up"),
    ),
)
MODULES: Mapping[str, ModuleType] = MappingProxyType(
    {
        module.name: module
        for module in (
            _COPY,
            _FILE,
            _LINEINFILE,
            _BLOCKINFILE,
            _REPLACE,
            _SYSTEMD,
            _SERVICE,
            _CRON,
            _USER,
            _GROUP,
            _IPTABLES,
            _COMMAND,
            _SHELL,
            _STAT,
            _SLURP,
            _WAIT_FOR,
        )
    }
)
