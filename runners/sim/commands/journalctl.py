"""journalctl of systemd 252: read the journal."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from runners.sim.commands.context import CommandExit, Context
from runners.sim.commands.following import interrupted_at
from runners.sim.commands.options import Options
from runners.sim.format import human_systemd
from runners.sim.journal_lines import boot_id, fields, json_line, short_line
from runners.sim.regexes import RegexError, perl
from runners.sim.systemctl.jobs import expand
from runners.sim.systemd.journal import entries
from runners.sim.systemd.state import Entry
from runners.sim.systemd.unitfile import byte_size, timespan
from runners.sim.tool import Tool
from runners.text import is_digits

PATH = "/bin/journalctl"

_TOOL = Tool(
    "journalctl [OPTIONS...] [MATCHES...]",
    "system user M,machine= m,merge D,directory= file= root= image= namespace= S,since= U,until= c,cursor= "
    "after-cursor= cursor-file= b,boot=? u,unit= user-unit= t,identifier= p,priority= facility= g,grep= "
"case-sensitive=? "
    "k,dmesg o,output= output-fields= n,lines=? r,reverse show-cursor utc x,catalog no-hostname no-full "
"full l a,all f,follow "
    "no-tail q,quiet e,pager-end no-pager truncate-newline list-boots header disk-usage vacuum-size= vacuum-files= "
    "vacuum-time= verify sync flush rotate relinquish-var smart-relinquish-var dump-catalog list-catalog "
"update-catalog "
    "N,fields F,field= interval= verify-key= setup-keys force h,help",
    "systemd 252 (252.22-1~deb12u1)",
    hinted=False,
)  # fmt: skip

_PRIORITIES = ("emerg", "alert", "crit", "err", "warning", "notice", "info", "debug")
_OUTPUTS = ("short", "short-full", "short-iso", "short-iso-precise", "short-precise", "short-monotonic", "short-unix",
            "verbose", "export", "json", "json-pretty", "json-sse", "json-seq", "cat", "with-unit")  # fmt: skip
_BYTES_PER_ENTRY = 780


def main(ctx: Context) -> int:
    # -n may stand alone before another option, and takes the next word only if that is a number.
    options = _TOOL.parse(ctx, _joined(ctx.args))
    maintained = _maintenance(ctx, options)
    if maintained is not None:
        return maintained
    output = options.value("o") or "short"
    if output not in _OUTPUTS:
        ctx.stderr.write(f"Unknown output format '{output}'.\n".encode("utf-8", "surrogateescape"))
        return 1
    readable = ctx.cred.uid == 0 or bool(ctx.cred.groups & {4, 999})
    if not readable and not options.has("q"):
        ctx.stderr.write(
            b"Hint: You are currently not seeing messages from other users and the system.\n"
            b"      Users in groups 'adm', 'systemd-journal' can see all messages.\n"
            b"      Pass -q to turn off this notice.\n"
        )
        ctx.stderr.write(b"No journal files were opened due to insufficient permissions.\n")
        return 1
    limit = _limit(ctx, options)
    chosen = _chosen(ctx, options)
    field = options.value("F")
    if field is not None:
        seen = dict.fromkeys(fields(ctx.machine, entry, 0).get(field, "") for entry in chosen)
        for value in seen:
            if value:
                ctx.line(value)
        return 0
    if limit is not None:
        chosen = chosen[len(chosen) - limit :] if limit < len(chosen) else chosen
    if options.has("r"):
        chosen.reverse()
    _print(ctx, options, chosen, output)
    if options.has("f"):
        return _follow(ctx, options, output)
    return 0


def _joined(arguments: list[str]) -> list[str]:
    words: list[str] = []
    pending = list(arguments)
    while pending:
        word = pending.pop(0)
        if word in ("-n", "-b", "--lines", "--boot") and pending and re.fullmatch(r"[+-]?\d+|all", pending[0]):
            word += ("=" if word.startswith("--") else "") + pending.pop(0)
        elif re.fullmatch(r"-[a-zA-Z]*n", word) and pending and is_digits(pending[0]):
            word += pending.pop(0)
        words.append(word)
    return words


def _limit(ctx: Context, options: Options) -> int | None:
    if not options.has("n"):
        if options.has("f") and not options.has("no-tail"):
            return 10
        return 1000 if options.has("e") else None
    text = options.value("n")
    if text is None or text == "":
        return 10
    if text == "all":
        return None
    if not is_digits(text):
        ctx.stderr.write(f"Failed to parse lines '{text}'\n".encode("utf-8", "surrogateescape"))
        raise CommandExit(1)
    return int(text)


def _chosen(ctx: Context, options: Options) -> list[Entry]:
    """The entries that all the filters let through, oldest first."""
    units = set(expand(ctx, options.values("u")))
    identifiers = set(options.values("t"))
    since, until = _moment(ctx, options.value("S")), _moment(ctx, options.value("U"))
    low, high = _priorities(ctx, options.value("p"))
    pattern = options.value("g")
    matcher = None
    if pattern is not None:
        try:
            matcher = perl(pattern, ignore_case=pattern == pattern.lower())
        except RegexError as error:
            ctx.stderr.write(f'Bad pattern "{pattern}": {error}\n'.encode("utf-8", "surrogateescape"))
            raise CommandExit(1) from None
    matches = _field_matches(ctx, options)
    boot = options.value("b")
    if boot not in (None, "", "0", "all") and boot != boot_id(ctx.machine):
        ctx.stderr.write(
            f"Data from the specified boot ({boot}) is not available: No such boot ID in journal\n".encode(
                "utf-8", "surrogateescape"
            )
        )
        raise CommandExit(1)
    if options.has("b") and boot != "all":
        since = max(since or 0.0, ctx.machine.clock.boot)
    if options.has("k"):
        since = max(since or 0.0, ctx.machine.clock.boot)
    everything = since is None and until is None and not options.has("k")
    if everything and len(units) == 1 and not matches:
        ctx.spend(len(ctx.machine.journal))
        found = list(entries(ctx.machine, unit=next(iter(units))))
    else:
        found = list(entries(ctx.machine, since=since, until=until, kernel_only=options.has("k")))
        ctx.spend(len(found))
    if matches:
        found = [entry for index, entry in enumerate(found) if _agrees(fields(ctx.machine, entry, index), matches)]
    if (low, high) != (0, 7):
        found = [entry for entry in found if low <= entry.priority <= high]
    if units:
        found = [entry for entry in found if entry.unit in units]
    if identifiers:
        found = [entry for entry in found if entry.identifier in identifiers]
    if matcher is not None:
        found = [
            entry for entry in found if matcher.search(entry.message.encode("utf-8", "surrogateescape")) is not None
        ]
    return found


def _field_matches(ctx: Context, options: Options) -> dict[str, set[str]]:
    matches: dict[str, set[str]] = {}
    for operand in options.operands:
        if operand == "+":
            continue
        if operand.startswith("/"):
            matches.setdefault("SYSLOG_IDENTIFIER", set()).add(operand.rsplit("/", 1)[-1])
            continue
        name, equals, value = operand.partition("=")
        if not equals:
            ctx.stderr.write(f"Failed to add match '{operand}': Invalid argument\n".encode("utf-8", "surrogateescape"))
            raise CommandExit(1)
        matches.setdefault(name, set()).add(value)
    return matches


def _agrees(found: dict[str, str], matches: dict[str, set[str]]) -> bool:
    return all(found.get(name) in values for name, values in matches.items())


def _priorities(ctx: Context, text: str | None) -> tuple[int, int]:
    if text is None:
        return 0, 7
    names = {"error": 3, "warn": 4, "panic": 0}
    parts = []
    for word in text.split(".."):
        if is_digits(word) and int(word) < 8:
            parts.append(int(word))
        elif word in _PRIORITIES or word in names:
            parts.append(names[word] if word in names else _PRIORITIES.index(word))
        else:
            ctx.stderr.write(f"Unknown log level {text}\n".encode("utf-8", "surrogateescape"))
            raise CommandExit(1)
    return (0, parts[0]) if len(parts) == 1 else (min(parts), max(parts))


def _moment(ctx: Context, text: str | None) -> float | None:
    """A point in time as systemd.time(7) lets people write it."""
    if text is None:
        return None
    now = ctx.machine.clock.time()
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    words = text.strip().removesuffix(" UTC")
    named = {
        "now": now,
        "today": midnight,
        "yesterday": midnight - timedelta(days=1),
        "tomorrow": midnight + timedelta(days=1),
    }
    if words in named:
        return named[words].timestamp()
    if words.startswith("@"):
        try:
            return float(words[1:])
        except ValueError:
            pass
    relative = re.fullmatch(r"([+-]?)(.*?)( ago)?", words)
    assert relative is not None
    span = timespan(relative.group(2).strip()) if relative.group(2) else None
    if span is not None and (relative.group(1) or relative.group(3)):
        return now.timestamp() + (span if relative.group(1) == "+" else -span)
    for form in (
        "%Y-%m-%d %H:%M:%S.%f",
        "%Y-%m-%d %H:%M:%S",
        "%Y-%m-%dT%H:%M:%S",
        "%Y-%m-%d %H:%M",
        "%Y-%m-%d",
        "%H:%M:%S",
        "%H:%M",
    ):
        try:
            moment = datetime.strptime(words, form).replace(tzinfo=UTC)
        except ValueError:
            continue
        if form.startswith("%H"):
            moment = midnight.replace(hour=moment.hour, minute=moment.minute, second=moment.second)
        return moment.timestamp()
    ctx.stderr.write(f"Failed to parse timestamp: {text}\n".encode("utf-8", "surrogateescape"))
    raise CommandExit(1)


def _print(ctx: Context, options: Options, chosen: list[Entry], output: str) -> None:
    machine = ctx.machine
    if not chosen:
        if not output.startswith("json") and output not in ("cat", "export") and not options.has("q"):
            ctx.line("-- No entries --")
        return
    lines = []
    booted = None
    for index, entry in enumerate(chosen):
        if output.startswith(("short", "with-unit")):
            boot = entry.at >= machine.clock.boot
            if booted is not None and boot and not booted:
                lines.append(f"-- Boot {boot_id(machine)} --")
            booted = boot
        lines += _entry(ctx, options, entry, index, output)
    ctx.spend(len(lines))
    ctx.out("\n".join(lines) + "\n")


def _entry(ctx: Context, options: Options, entry: Entry, index: int, output: str) -> list[str]:
    machine = ctx.machine
    if output in ("json", "json-seq", "json-sse"):
        return [json_line(machine, entry, index, only=options.value("output-fields"))]
    if output == "json-pretty":
        return [json_line(machine, entry, index, pretty=True)]
    if output in ("verbose", "export"):
        found = fields(machine, entry, index)
        if output == "export":
            return [*(f"{name}={value}" for name, value in found.items()), ""]
        moment = machine.clock.time(entry.at)
        micros = int((entry.at - int(entry.at)) * 1e6)
        head = f"{moment:%a %Y-%m-%d %H:%M:%S}.{micros:06d} UTC [{found['__CURSOR']}]"
        return [head, *(f"    {name}={value}" for name, value in found.items() if not name.startswith("__"))]
    line = short_line(machine, entry, output)
    if options.has("no-hostname") and output != "cat":
        line = line.replace(f" {machine.spec.hostname} ", " ", 1)
    return [line]


def _follow(ctx: Context, options: Options, output: str) -> int:
    """Wait for new entries, for as long as the command may run."""
    seen = len(list(ctx.machine.journal))
    end = interrupted_at(ctx)
    while ctx.machine.clock.now < end:
        ctx.sleep(1.0)
        fresh = list(ctx.machine.journal)[seen:]
        seen += len(fresh)
        wanted = {id(entry) for entry in _chosen(ctx, options)}
        chosen = [entry for entry in fresh if id(entry) in wanted]
        if chosen:
            _print(ctx, options, chosen, output)
    return 130


def _maintenance(ctx: Context, options: Options) -> int | None:
    """Verbs that do not read entries. None: none of them was asked for."""
    machine = ctx.machine
    size = max(len(machine.journal) * _BYTES_PER_ENTRY, 8 << 20)
    if options.has("disk-usage"):
        ctx.line(f"Archived and active journals take up {human_systemd(size)} in the file system.")
        return 0
    if options.has("list-boots"):
        first = next(iter(machine.journal), None)
        began = max(first.at if first is not None else machine.clock.boot, machine.clock.boot)
        ctx.line("IDX BOOT ID                          FIRST ENTRY                 LAST ENTRY")
        ctx.line(
            f"  0 {boot_id(machine)} {machine.clock.time(began):%a %Y-%m-%d %H:%M:%S} UTC "
            f"{machine.clock.time():%a %Y-%m-%d %H:%M:%S} UTC"
        )
        return 0
    if options.has("vacuum-size", "vacuum-time", "vacuum-files", "rotate", "flush", "sync") and ctx.cred.uid != 0:
        ctx.stderr.write(b"Failed to vacuum: Permission denied\n")
        return 1
    if options.has("vacuum-size", "vacuum-files"):
        limit = byte_size(options.value("vacuum-size") or "0")
        if limit is None:
            ctx.stderr.write(
                f"Failed to parse vacuum size: {options.value('vacuum-size')}\n".encode("utf-8", "surrogateescape")
            )
            return 1
        freed = 0
        if len(machine.journal) and limit and size > limit:
            keep = max(limit // _BYTES_PER_ENTRY, 1)
            ordered = list(machine.journal)
            if keep < len(ordered):
                freed = machine.journal.drop_before(ordered[-keep].at) * _BYTES_PER_ENTRY
        ctx.stderr.write(
            f"Vacuuming done, freed {human_systemd(freed)} of archived journals from {_folder(ctx)}.\n".encode(
                "utf-8", "surrogateescape"
            )
        )
        return 0
    if options.has("vacuum-time"):
        age = timespan(options.value("vacuum-time") or "")
        if age is None:
            ctx.stderr.write(
                f"Failed to parse vacuum time: {options.value('vacuum-time')}\n".encode("utf-8", "surrogateescape")
            )
            return 1
        freed = machine.journal.drop_before(machine.clock.now - age) * _BYTES_PER_ENTRY
        ctx.stderr.write(
            f"Vacuuming done, freed {human_systemd(freed)} of archived journals from {_folder(ctx)}.\n".encode(
                "utf-8", "surrogateescape"
            )
        )
        return 0
    if options.has("verify"):
        ctx.stderr.write(f"PASS: {_folder(ctx)}/system.journal\n".encode("utf-8", "surrogateescape"))
        return 0
    if options.has("header"):
        ctx.line(f"File path: {_folder(ctx)}/system.journal")
        ctx.line(f"Entry objects: {len(machine.journal)}")
        return 0
    if options.has("rotate", "flush", "sync", "relinquish-var"):
        return 0
    return None


def _folder(ctx: Context) -> str:
    return f"/var/log/journal/{fields(ctx.machine, Entry(0.0, '', 0, ''), 0)['_MACHINE_ID']}"


def _vacuumed(ctx: Context, freed: int) -> None:
    where = _folder(ctx)
    ctx.stderr.write(
        f"Vacuuming done, freed {human_systemd(freed)} of archived journals from {where}.\n".encode(
            "utf-8", "surrogateescape"
        )
    )
