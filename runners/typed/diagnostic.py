"""Which lines only look: every program in them reads, none writes, and at least one looks at the machine."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from runners.text import is_digits
from runners.typed.finds import Find
from runners.typed.reading import Typed
from runners.typed.values import Invocation

_NOWHERE = frozenset({"/dev/null", "/dev/stderr", "/dev/stdout", "/dev/tty"})
_IDLE = frozenset(
    (  # noqa: SIM905 (a table, read better so)
        "echo printf true false : test [ cd pushd popd pwd sleep clear set shopt export local declare typeset "
        "readonly unset alias read return break continue exit shift wait seq yes basename dirname trap"
    ).split()
)
"""They change nothing that lasts, and look at nothing."""
_READERS = frozenset(
    (  # noqa: SIM905 (a table, read better so)
        "cat tac head tail less more most grep egrep fgrep zgrep zcat zless bzcat xzcat ls dir tree stat file du "
        "df free ps pstree pgrep pidof pmap top htop uptime w who whoami last lastb lastlog users lsof ss netstat "
        "vmstat iostat mpstat sar pidstat ping ping6 traceroute tracepath dig host nslookup getent lsblk blkid "
        "findmnt lscpu lsmod modinfo lsns lspci lsusb id groups printenv uname arch nproc namei readlink realpath "
        "which whereis type locate md5sum sha1sum sha256sum sha512sum cksum b2sum diff cmp comm wc uniq cut tr "
        "xxd hexdump od strings column nl rev paste fold jq apt-cache dpkg-query pg_isready pg_lsclusters "
        "iptables-save ip6tables-save nfs-stat getfacl lsattr history jobs zdump getconf locale lslocks lslogins "
        "swapstat man apropos ulimit times hostid iptables-nft-save tput base64 ausearch aureport faillog "
        "utmpdump coredumpctl systemd-cgls systemd-cgtop systemd-path command ethtool mii-tool iw nstat slabtop "
        "dircolors"
    ).split()
)
_CHANGING_OPTIONS: Mapping[str, frozenset[str]] = {
    "tree": frozenset({"-o"}),
    "blkid": frozenset({"-g"}),
    "coredumpctl": frozenset({"dump", "-o", "gdb"}),
    "ethtool": frozenset({"-s", "-K", "-G", "-C", "-A"}),
}
_SQL_READS = re.compile(
    r"(?is)\s*(?:select|show|explain(?!\s+analy)|table|values|\\[dlzs]|\\conninfo|with\b.*\bselect)"
)
_SQL_WRITES = re.compile(
    r"(?i)\b(?:insert|update|delete|drop|alter|create|truncate|grant|revoke|pg_terminate|copy|into)\b"
)
_REDIS_READS = frozenset(
    (  # noqa: SIM905 (a table, read better so)
        "get mget keys scan info ping dbsize exists ttl pttl type llen lrange lindex smembers scard hget hgetall "
        "hlen zrange zcard strlen time role lastsave memory client config slowlog latency command monitor"
    ).split()
)
_AWK_WRITES = re.compile(r"\bsystem\s*\(|>\s*\"|\|\s*\"|print[^;}]*>")
_SED_WRITES = re.compile(r"(?:^|[;/}\d$ ])[wWe](?:\s|$)|/[gipIM0-9]*[we]")


def diagnostic(typed: Typed) -> bool:
    """Does the line only look, and look at something?"""
    if not typed.whole or typed.multiplies:
        return False
    looked = False
    for invocation in typed.invocations:
        if any(_writes(operator, invocation.path(target)) for operator, target in invocation.redirections):
            return False
        name = invocation.program
        if not name or name in _IDLE:
            continue
        if not _reads(invocation):
            return False
        looked = True
    return looked


def _writes(operator: str, path: str) -> bool:
    if operator in ("<", "<<", "<<-", "<<<", "<&"):
        return False
    target = path.rpartition("/")[2]
    return not (path in _NOWHERE or (operator == ">&" and (is_digits(target) or target == "-")))


def _reads(invocation: Invocation) -> bool:
    name = invocation.program
    judge = _JUDGES.get(name)
    if judge is not None:
        return judge(invocation, [value.text for value in invocation.arguments])
    if name not in _READERS:
        return False
    changing = _CHANGING_OPTIONS.get(name, frozenset())
    return not any(value.text in changing for value in invocation.arguments)


def _verbs(texts: list[str]) -> list[str]:
    return [text for text in texts if not text.startswith("-")]


def _systemctl(_: Invocation, texts: list[str]) -> bool:
    verb = next(iter(_verbs(texts)), "list-units")
    return verb.startswith(("status", "show", "cat", "list-", "is-", "help", "get-default"))


def _journalctl(_: Invocation, texts: list[str]) -> bool:
    changing = ("--vacuum", "--rotate", "--flush", "--sync", "--relinquish", "--smart", "--setup", "--update")
    return not any(text.startswith(changing) for text in texts)


def _without(*options: str) -> Callable[[Invocation, list[str]], bool]:
    return lambda _, texts: not any(text.startswith(options) for text in texts)


def _only(*verbs: str) -> Callable[[Invocation, list[str]], bool]:
    """The first word that is no option must be one of these; "" stands for none at all."""
    return lambda _, texts: next(iter(_verbs(texts)), "") in verbs


def _given(*options: str) -> Callable[[Invocation, list[str]], bool]:
    return lambda _, texts: any(text in options or (len(text) > 2 and text[:2] in options) for text in texts)


def _ip(_: Invocation, texts: list[str]) -> bool:
    changing = {"add", "del", "delete", "set", "change", "replace", "flush", "append", "exec", "up", "down"}
    return not changing & set(texts)


def _curl(invocation: Invocation, texts: list[str]) -> bool:
    for index, text in enumerate(texts):
        value = texts[index + 1] if index + 1 < len(texts) else ""
        if text in ("-X", "--request") and value not in ("GET", "HEAD", "OPTIONS"):
            return False
        if text.startswith(("-d", "--data", "-F", "--form", "-T", "--upload", "--json", "-K", "--config")):
            return False
        if text in ("-o", "--output", "-D", "-c") and value not in ("/dev/null", "-", "/dev/stdout"):
            return False
        if text in ("-O", "--remote-name", "-J"):
            return False
        if re.fullmatch(r"-[a-zA-Z]*O[a-zA-Z]*", text):
            return False
        if re.fullmatch(r"-[a-zA-Z]+o", text) and value not in ("/dev/null", "-", "/dev/stdout"):
            return False
    return bool(invocation.arguments)


def _wget(_: Invocation, texts: list[str]) -> bool:
    into = [text for text in texts if re.match(r"-[a-zA-Z]*O", text)]
    out = any(text.endswith(("O-", "O/dev/null")) for text in into) or any(
        texts[texts.index(text) + 1 : texts.index(text) + 2] in (["-"], ["/dev/null"]) for text in into
    )
    return ("--spider" in texts or out) and not any(text.startswith("--post") for text in texts)


def _find(invocation: Invocation, _: list[str]) -> bool:
    search = Find.of(invocation)
    return not search.deletes and not search.writes


def _psql(_: Invocation, texts: list[str]) -> bool:
    told = [texts[index + 1] for index, text in enumerate(texts[:-1]) if re.fullmatch(r"-[a-zA-Z]*c|--command", text)]
    lists = any(text in ("-l", "--list", "-V", "--version") for text in texts)
    return (lists or bool(told)) and all(_SQL_READS.match(one) and not _SQL_WRITES.search(one) for one in told)


def _redis(_: Invocation, texts: list[str]) -> bool:
    words = list(texts)
    while words and words[0].startswith("-"):
        words = words[2:] if words[0] in ("-h", "-p", "-a", "-n", "-s", "-u", "--user", "--pass") else words[1:]
    if not words or words[0].lower() not in _REDIS_READS:
        return False
    return (
        words[0].lower() not in ("config", "client", "slowlog", "latency", "memory", "command")
        or words[1:2] == []
        or (
            words[1].lower()
            in ("get", "list", "info", "usage", "stats", "doctor", "count", "latest", "history", "len", "id")
        )
    )


def _awk(_: Invocation, texts: list[str]) -> bool:
    return not any(_AWK_WRITES.search(text) for text in texts) and "-i" not in texts and "-f" not in texts


def _sed(_: Invocation, texts: list[str]) -> bool:
    options = [text for text in texts if text.startswith("-") and len(text) > 1]
    in_place = any(text.startswith("--in-place") or ("i" in text[1:] and not text.startswith("--")) for text in options)
    return not in_place and "-f" not in texts and not any(_SED_WRITES.search(text) for text in _verbs(texts)[:1])


def _openssl(_: Invocation, texts: list[str]) -> bool:
    looks = {"x509", "s_client", "verify", "version", "dgst", "rsa", "pkey", "ec", "req", "crl", "asn1parse", "ciphers"}
    return bool(texts) and texts[0] in looks and not {"-out", "-keyout", "-new", "-newkey", "-signkey"} & set(texts)


def _sysctl(_: Invocation, texts: list[str]) -> bool:
    changing = ("-w", "-p", "--write", "--load", "--system", "-f")
    return not any("=" in text or text.startswith(changing) for text in texts)


def _date(_: Invocation, texts: list[str]) -> bool:
    return not any(text in ("-s", "--set") or text.startswith("--set=") for text in texts) and all(
        text.startswith(("+", "-")) or (index and texts[index - 1] in ("-d", "--date", "-r"))
        for index, text in enumerate(texts)
    )


def _nothing_named(_: Invocation, texts: list[str]) -> bool:
    """hostname, mount and their like: with an operand they set."""
    return not _verbs(texts) and not any(text in ("-a", "--all", "-F", "--file") for text in texts)


def _dmesg(_: Invocation, texts: list[str]) -> bool:
    letters = "".join(text[1:] for text in texts if text.startswith("-") and not text.startswith("--"))
    changing = ("--clear", "--read-clear", "--console")
    return not set(letters) & set("cCDEn") and not any(text.startswith(changing) for text in texts)


_JUDGES: Mapping[str, Callable[[Invocation, list[str]], bool]] = {
    "systemctl": _systemctl,
    "service": lambda _, texts: texts[1:2] == ["status"] or texts[:1] == ["--status-all"],
    "journalctl": _journalctl,
    "loginctl": _only("", "list-sessions", "list-users", "list-seats", "session-status", "user-status", "show-session"),
    "timedatectl": _only("", "status", "show", "timesync-status", "show-timesync", "list-timezones"),
    "hostnamectl": _only("", "status"),
    "systemd-analyze": _without("set-"),
    "ip": _ip,
    "ifconfig": lambda _, texts: len(_verbs(texts)) < 2,
    "route": lambda _, texts: not _verbs(texts),
    "arp": _without("-d", "-s", "-f"),
    "iptables": _given("-L", "-S", "-C", "--list", "--list-rules", "--check"),
    "ip6tables": _given("-L", "-S", "-C", "--list", "--list-rules", "--check"),
    "nft": _only("list"),
    "ufw": _only("status"),
    "curl": _curl,
    "wget": _wget,
    "nc": lambda _, texts: any(re.match(r"-[a-zA-Z]*z", text) for text in texts),
    "find": _find,
    "psql": _psql,
    "redis-cli": _redis,
    "awk": _awk,
    "gawk": _awk,
    "mawk": _awk,
    "sed": _sed,
    "openssl": _openssl,
    "sysctl": _sysctl,
    "date": _date,
    "hostname": _nothing_named,
    "mount": lambda _, texts: not _verbs(texts) and "-a" not in texts,
    "swapon": _given("-s", "--show", "--summary"),
    "env": lambda _, texts: not texts,
    "dmesg": _dmesg,
    "fuser": lambda _, texts: not any(text.startswith("-") and "k" in text for text in texts),
    "crontab": _given("-l"),
    "nginx": _given("-t", "-T", "-v", "-V", "-tq"),
    "apachectl": _only("configtest", "status", "fullstatus", ""),
    "apache2ctl": _only("configtest", "status", "fullstatus", ""),
    "apache2": _given("-t", "-S", "-v", "-V", "-M"),
    "sshd": _given("-t", "-T"),
    "visudo": _given("-c"),
    "logrotate": lambda _, texts: any(re.fullmatch(r"-[a-z]*d[a-z]*|--debug", text) for text in texts),
    "sudo": _given("-l", "-ll", "--list"),
    "dpkg": _given("-l", "-L", "-s", "-S", "-V", "-p", "--list", "--status", "--listfiles", "--search", "--verify"),
    "rpm": _given("-q", "-qa", "-ql", "-qi", "-V"),
    "apt": _only("list", "show", "policy", "search", "depends", "rdepends"),
    "sort": _without("-o", "--output"),
    "git": _only("status", "log", "diff", "show", "blame", "grep", "rev-parse", "ls-files", "describe"),
    "docker": _only("ps", "logs", "inspect", "images", "stats", "top", "info", "version", "port"),
    "kubectl": _only("get", "describe", "logs", "top", "explain", "version"),
    "uniq": lambda _, texts: len(_verbs(texts)) < 2,
}
