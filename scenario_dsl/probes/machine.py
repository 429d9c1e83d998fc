"""Probe types: what a machine runs and allows."""

from __future__ import annotations

from scenario_dsl.probes.shape import ProbeType, may, must

UNIT = ProbeType(
    name="unit",
    doc="The state of a systemd unit.",
    example={"name": "nginx", "state": "active"},
    at_least_one=("state", "enabled", "masked", "restarts_at_most"),
    parameters=(
        must("name", "unit", "the unit; `.service` may be left out"),
        may("state", "string", "its active state", choices=("active", "inactive", "failed", "activating")),
        may("enabled", "boolean", "whether it starts at boot"),
        may("masked", "boolean", "whether it is masked"),
        may("restarts_at_most", "integer", "how often it may have been restarted by systemd"),
    ),
)
PROCESS = ProbeType(
    name="process",
    doc="Processes by their command line.",
    example={"matches": "^nginx: worker", "running": True},
    presence="running",
    only_of_present=("count_at_least",),
    parameters=(
        must("matches", "regex", "found in the command line"),
        must("running", "boolean", "whether there is such a process"),
        may("count_at_most", "integer", "how many there are"),
        may("count_at_least", "integer", "how many there are"),
        may("user", "user", "only processes of this user"),
        may("memory_at_most", "size", "their resident memory together"),
    ),
)
MEMORY = ProbeType(
    name="memory",
    doc="The machine's memory, as `free` shows it.",
    example={"available_at_least": "1GB"},
    at_least_one=("available_at_least", "available_at_most", "used_percent_at_most"),
    parameters=(
        may("available_at_least", "size", "memory available to new work"),
        may("available_at_most", "size", "memory available to new work"),
        may("used_percent_at_most", "percent", "memory that is not available, of all there is"),
    ),
)
CRON = ProbeType(
    name="cron",
    doc="A user's cron job.",
    example={"user": "root", "command": "backup\\.sh", "present": True, "schedule": "0 3 * * *"},
    presence="present",
    only_of_present=("schedule", "succeeded_within"),
    parameters=(
        must("user", "user", "whose table"),
        must("command", "regex", "found in the job's command"),
        must("present", "boolean", "whether there is such a job, not commented out"),
        may("schedule", "string", "its five fields, or a word such as `@daily`"),
        may("succeeded_within", "duration", "its last successful run is no longer ago than this"),
    ),
)
USER = ProbeType(
    name="user",
    doc="An account.",
    example={"name": "deploy", "exists": True, "sudo": False},
    presence="exists",
    only_of_present=("groups", "shell", "sudo", "sudo_without_password"),
    parameters=(
        must("name", "user", "the account"),
        must("exists", "boolean", "whether there is such an account"),
        may("groups", "list of user", "groups that it is in, beside its own"),
        may("shell", "path", "its login shell"),
        may("locked", "boolean", "whether its password is locked"),
        may("authorized_keys_lack", "regex", "found in none of its authorized keys"),
        may("sudo", "boolean", "whether it may become root with sudo"),
        may("sudo_without_password", "boolean", "whether it may do so without giving a password"),
    ),
)
LOG = ProbeType(
    name="log",
    doc="Lines of a log file, or of a unit's journal. Without a count, at least one line must match.",
    example={"unit": "nginx", "matches": "emerg", "within": "5m", "count_at_most": 0},
    exactly_one=(("path", "unit"),),
    parameters=(
        may("path", "path", "the log file"),
        may("unit", "unit", "the unit whose journal is read"),
        must("matches", "regex", "found in the line"),
        may("within", "duration", "only lines no older than this"),
        may("count_at_least", "integer", "how many lines match"),
        may("count_at_most", "integer", "how many lines match"),
    ),
)
SYSCTL = ProbeType(
    name="sysctl",
    doc="A kernel setting in force.",
    example={"key": "net.ipv4.ip_forward", "equals": "0"},
    parameters=(
        must("key", "string", "the setting"),
        must("equals", "string", "its value, as `sysctl -n` prints it"),
    ),
)
LIMIT = ProbeType(
    name="limit",
    doc="A resource limit of a unit's main process.",
    example={"unit": "app", "name": "nofile", "at_least": 4096},
    parameters=(
        must("unit", "unit", "the unit"),
        must("name", "string", "the limit", choices=("nofile", "nproc", "memory", "core", "fsize", "stack", "as")),
        must("at_least", "size", "the soft limit"),
    ),
)
