"""Reduces what a command printed to its structure, so that two machines with the same software can be compared.

Kept: wording, headers, columns and their kinds, states, units of measure, named statuses, HTTP and curl codes, order.
Replaced: numbers, pids, times, durations, addresses, sizes, versions. Left out: what a container cannot show (the
accounting lines of `systemctl status`), the tree of its processes, and how many rows a table has beyond none or some.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

_MONTH = "Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec"
_DAY = "Mon|Tue|Wed|Thu|Fri|Sat|Sun"
_SPAN = r"(?:\b\d+(?:\.\d+)?(?:months?|min|ms|us|[ywdhs])\b|\b\d+ (?:years?|months?|weeks?|days?|ms)\b)"
_TIMES = [
    rf"(?:(?:{_DAY}) )?\d{{4}}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?: ?(?:UTC|[+-]\d\d:?\d\d|Z))?",
    r"\d{4}/\d\d/\d\d \d\d:\d\d:\d\d",
    rf"\d\d?/(?:{_MONTH})/\d{{4}}:\d\d:\d\d:\d\d [+-]\d{{4}}",
    rf"(?:{_DAY}),? \d\d (?:{_MONTH}) \d{{4}} \d\d:\d\d:\d\d GMT",
    rf"(?:(?:{_DAY}) )?(?:{_MONTH}) [ \d]\d \d\d:\d\d(?::\d\d)?(?: \d{{4}})?(?: GMT)?",
    rf"\d\d (?:{_MONTH}) \d{{4}} \d\d:\d\d:\d\d\.\d+",
    rf"(?:{_MONTH}) [ \d]\d  \d{{4}}|(?:{_MONTH})\d\d|(?:{_MONTH}) \d\d, \d{{4}}",
    r"\d{4}-\d\d-\d\d",
    rf"{_SPAN}(?: {_SPAN})*",
    r"(?<![\d.])\d\d:[0-5]\d(?::\d\d)?\b",
    r"(?<![\w.])\d+:[0-5]\d(?:\.\d+)?\b(?!\.)",
]
_TIME = re.compile("|".join(f"(?:{one})" for one in _TIMES))
_KEPT = re.compile(
    r"HTTP/\d\.\d \d{3}|ERROR \d{3}|\b[1-5]\d\d (?=OK|Moved|Found|Bad|Not|Forbidden|Internal|Service|Gateway)|"
    r"status=\d+(?:/[A-Z]+)?|code=\w+|"
    r"curl: \(\d+\)|\(\d+: [A-Z][a-z]+|\[Errno \d+\]|tcp dpt:\d+|\bports? \d+\b|:\d{2,5}\b(?=$|[ /\"'])|HTTP\" \d{3}|"
    r"\b(?:un)?signal=\d+/[A-Z]+|HTTP/\d\.\d\" \d{3}|\bdports? [\d,]+|x509|sha256|ed25519|base64|\b127\.0\.0\.1\b"
)
_ADDRESS = re.compile(r"\b\d{1,3}(?:\.\d{1,3}){3}(?:/\d+)?\b")
_HEX = re.compile(r"\b(?=[0-9a-fA-F]*\d)[0-9a-fA-F]{12,}\b")
_SIZE = re.compile(r"(?<![\w.])\d+(?:[.,]\d+)?(?:[KMGT]i?B?|B)\b")
_NUMBER = re.compile(r"(?<![\w.])\d+(?:[.,]\d+)*%?")
_VERSION = re.compile(r"(?:[~+]deb\d+u\d+)+|(?<=\d)[a-z]\b")
_UPTIME = re.compile(r"\bup .*?(?=, +\d+ users?)|^up .*")


def line_structure(line: str) -> str:
    """One line without what may differ between two machines."""
    line = line.split("\r")[-1] if "\r" in line.rstrip("\r") else line
    line = re.sub(r"^(\S*bash): line \d+: ", r"\1: ", line)
    line = re.sub(r"@if\d+|(?<=eth0)@\w+| link-netnsid \d+", "", line)  # a container's end of its cable
    line = re.sub(r"\b(?:[0-9a-f]{2}:){5}[0-9a-f]{2}\b|(?<![\w:])(?:fe80)?::[0-9a-f:]*", "<address>", line)
    line = re.sub(r"[\d.]+ [kMGT]?B/s", "<rate>", line)
    line = re.sub(r"^( *(?:\d+ +)?\d+)[KMG]?( +\d+)[KMG]?(?= +[A-Z]+ +\w+ +--)", r"\1\2", line)  # iptables' counters
    line = re.sub(r'(?<=ETag: )"[0-9a-f]+-[0-9a-f]+"', "<id>", line)
    line = _UPTIME.sub("up <time>", line)
    line = _TIME.sub("<time>", line)
    kept: list[str] = []

    def keep(match: re.Match[str]) -> str:
        kept.append(match[0])
        return f"\x00{chr(0xE000 + len(kept) - 1)}\x00"

    line = _KEPT.sub(keep, line)
    line = _ADDRESS.sub("<address>", line)
    line = _HEX.sub("<id>", line)
    line = _VERSION.sub("", line)
    line = _SIZE.sub("<size>", line)
    line = _NUMBER.sub("<n>", line)
    line = re.sub("\x00(.)\x00", lambda match: kept[ord(match[1]) - 0xE000], line)
    line = re.sub(r"(?<=ni,)(?=<n>)|(?<=\(s\):)(?=<n>)", " ", line)  # top: a figure as wide as its column
    return re.sub(r"\s+", " ", line).strip()


def text_structure(text: str) -> tuple[str, ...]:
    """All lines, with neighbours of the same structure merged into one."""
    lines: list[str] = []
    for line in text.splitlines():
        if re.match(r"\[\d+\](?: \d+$|[+-]? +(?:Done|Exit \d+|Terminated|Killed)\b)", line):
            continue  # an interactive shell tells of its jobs
        reduced = line_structure(line)
        if not lines or lines[-1] != reduced:
            lines.append(reduced)
    while lines and not lines[-1]:
        lines.pop()
    return tuple(lines)


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """header: its words; columns: what kinds of cell each column has (empty: no rows); rest: lines after the table."""

    header: tuple[str, ...]
    columns: tuple[frozenset[str], ...]
    rest: tuple[str, ...] = ()

    def agrees(self, other: Table) -> bool:
        if self.header != other.header or bool(self.columns) != bool(other.columns) or self.rest != other.rest:
            return False
        return all(one & two for one, two in zip(self.columns, other.columns, strict=False))


Structure = tuple[str, ...] | Table

_TABLES = re.compile(
    r"^(?:sudo -u \w+ )?(?:ps (?:aux$|-ef|-e|ax|-C \w+ -o pid)|ss -(?!s)|netstat -[tri]|lsof -[iun]|lsof [/+]|"
    r"df |vmstat|systemctl (?:list-(?:units|unit-files|timers)|--failed)|last |fuser -v|w$|ls -l|free|"
    r"journalctl --list-boots)"
)
_HEADERLESS = re.compile(r"--no-legend|-H\b|w -h|ls -l|last|who")
_CELLS = [
    ("time", re.compile(r"<time>|-|n/a|\?")),
    ("number", re.compile(r"-?<n>|<size>|-|\*")),
    ("address", re.compile(r"(?:\S*[\d>\]*]|\S*localhost|\*):(?:\S+)")),
    ("path", re.compile(r"/.*")),
    ("dots", re.compile(r"[●×○*]")),
    ("word", re.compile(r".+")),
]


def _kinds(cell: str) -> set[str]:
    return {next(name for name, shape in _CELLS if shape.fullmatch(cell))} | (
        {"time", "number"} if cell in ("-", "?") else set()
    )


def table_structure(text: str, headerless: bool) -> Table:
    lines = text.splitlines()
    while lines and not lines[0].strip():
        lines.pop(0)
    header: tuple[str, ...] = () if headerless or not lines else tuple(line_structure(lines.pop(0)).split())
    rows: list[list[str]] = []
    rest: list[str] = []
    for position, line in enumerate(lines):
        if not line.strip() or re.match(r"\d+ (?:loaded|unit|timers)|\d+ timers", line):
            rest = list(text_structure("\n".join(line for line in lines[position:])))
            break
        rows.append(re.sub(r"^[●×○] ", "", line_structure(line)).split())
    width = min((len(row) for row in rows), default=0)
    columns = tuple(frozenset(kind for row in rows for kind in _kinds(row[index])) for index in range(width))
    return Table(header=header, columns=columns, rest=tuple(line for line in rest if line))


_LOG_LINE = re.compile(r"^(?:<time>) (\S+) ([^\s:\[]+)(?:\[<n>\])?: (.*)$")


def status_structure(text: str) -> tuple[str, ...]:
    """`systemctl status`: without accounting, process tree and the words of the log's tail."""
    lines: list[str] = []
    tree = False
    for line in text.splitlines():
        if re.match(r"\s*(?:Tasks|Memory|CPU|IO|IP): ", line):
            continue
        if re.match(r"\s+CGroup: ", line):
            tree = True
            lines.append(line_structure(line))
            continue
        if tree and re.match(r"\s+[├└│ ]", line):
            continue
        tree = False
        reduced = line if re.fullmatch(r"\d{1,3}", line) else line_structure(line)
        if _LOG_LINE.match(reduced):
            reduced = "<log>"
        elif re.match(r"(?:Process|Main PID): ", reduced):
            reduced = re.sub(r"ExecStart(\w*)=.*(?= \(code)", r"ExecStart\1=…", reduced)
        if not lines or lines[-1] != reduced:
            lines.append(reduced)
    return tuple(line for line in lines if line)


def log_structure(text: str) -> tuple[str, ...]:
    """Log lines by their form only: which words a healthy machine happened to say last means nothing."""
    forms: list[str] = []
    for line in text.splitlines():
        match = _LOG_LINE.match(line_structure(line))
        form = "<log>" if match else line_structure(line)
        if not forms or forms[-1] != form:
            forms.append(form)
    return tuple(forms)


def structure(command: str, text: str, *, healthy: bool) -> Structure:
    """What is compared of a command's standard output. `healthy`: nothing is broken, so logs say anything."""
    simple = not re.search(r"[|;&<>]|\$\(", command.replace("2>/dev/null", ""))
    if re.search(r"http_code|echo \$\?$", command) and re.fullmatch(r"\s*\d{1,3}\s*", text):
        return (text.strip(),)
    if "|" not in command and re.search(r"(?:^|; )(?:systemctl status|service \S+ status)", command):
        return status_structure(text)
    if simple and _TABLES.match(command):
        return table_structure(text, bool(_HEADERLESS.search(command)))
    if text.startswith("{"):
        try:
            return tuple(sorted(json.loads(text)))
        except ValueError:
            pass
    if re.match(r"du |find ", command):
        return tuple(sorted(text_structure(text)))  # in the order of the disk
    if simple and re.match(r"journalctl|tail -n \d+ /var/log", command) and healthy:
        return log_structure(text)
    return text_structure(text)


def agree(one: Structure, two: Structure) -> bool:
    if isinstance(one, Table) and isinstance(two, Table):
        return one.agrees(two)
    return one == two
