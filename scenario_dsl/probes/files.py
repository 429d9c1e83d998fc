"""Probe types: what lies on disk."""

from __future__ import annotations

from scenario_dsl.probes.shape import ProbeType, may, must

FILE = ProbeType(
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
        must("path", "path", "the file"),
        may("exists", "boolean", "whether it is there"),
        may("type", "string", "what it is; links are not followed", choices=("file", "directory", "link")),
        may("owner", "user", "the user it belongs to"),
        may("group", "user", "the group it belongs to"),
        may("mode", "mode", "exactly these permission bits"),
        may("mode_at_most", "mode", "no permission bit beyond these"),
        may("contains", "regex", "found somewhere in its content"),
        may("lacks", "regex", "found nowhere in its content"),
        may("size_at_most", "size", "its size"),
        may("size_at_least", "size", "its size"),
        may("readable_by", "user", "a user who can read it, all directories above it considered"),
        may("readable_by_others", "boolean", "whether users who neither own it nor share its group can read it"),
        may("target", "string", "where the link points, as written"),
    ),
)
DISK = ProbeType(
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
        must("path", "path", "any path in it"),
        may("used_percent_at_most", "percent", "used space, as df shows it"),
        may("used_percent_at_least", "percent", "used space, as df shows it"),
        may("free_at_least", "size", "space that users can still write"),
        may("free_at_most", "size", "space that users can still write"),
        may("inodes_free_at_least", "integer", "inodes left"),
        may("inodes_used_percent_at_most", "percent", "used inodes"),
        may("inodes_used_percent_at_least", "percent", "used inodes"),
    ),
)
MOUNT = ProbeType(
    name="mount",
    doc="Whether something is mounted at a path.",
    example={"path": "/var/log", "mounted": True, "options": ("rw",)},
    presence="mounted",
    only_of_present=("options",),
    parameters=(
        must("path", "path", "where"),
        must("mounted", "boolean", "whether something is mounted there"),
        may("options", "list of string", "options that it is mounted with"),
    ),
)
CERTIFICATE = ProbeType(
    name="certificate",
    doc="A certificate in a PEM file, or the one that a server shows to who connects from outside.",
    example={"path": "/etc/ssl/certs/shop.pem", "valid": True, "valid_for_at_least": "7d"},
    exactly_one=(("path", "served"),),
    presence="valid",
    only_of_present=("valid_for_at_least",),
    parameters=(
        may("path", "path", "the file"),
        may("served", "url", "an https address; its server is asked by the name in it"),
        must("valid", "boolean", "whether now lies within its dates"),
        may("valid_for_at_least", "duration", "how long it goes on being valid"),
        may("host", "string", "a name that it is made out for"),
        may("matches_key", "path", "the private key that belongs to it"),
    ),
)
