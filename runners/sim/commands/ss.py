"""ss of iproute2 6.1: sockets."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from runners.sim.commands.context import Context
from runners.sim.commands.options import Options
from runners.sim.machine import Machine
from runners.sim.processes import Process, Socket
from runners.sim.socket_table import is_ipv6, rows, service_name
from runners.sim.ss_usage import USAGE
from runners.sim.tool import Tool
from runners.text import is_digits

PATH = "/bin/ss"

_TOOL = Tool(
    "ss [ OPTIONS ]\n       ss [ OPTIONS ] [ FILTER ]",
    "h,help V,version n,numeric r,resolve a,all l,listening o,options e,extended m,memory p,processes T,threads i,info "
    "tipcinfo s,summary tos cgroup b,bpf E,events Z,context z,contexts N,net= 4,ipv4 6,ipv6 0,packet t,tcp M,mptcp "
    "S,sctp u,udp d,dccp w,raw x,unix tipc vsock xdp f,family= K,kill H,no-header O,oneline inet-sockopt A,query= "
    "socket= D,diag= F,filter=",
    "ss utility, iproute2-6.1.0, libbpf 1.1.0",
    status=255,
    hinted=False,
    after_error=USAGE,
)  # fmt: skip
_GROUPS = {
    "all": {"estab", "listen", "unconn", "time-wait", "close-wait", "syn-sent", "fin-wait-1", "fin-wait-2", "last-ack"},
    "connected": {"estab", "time-wait", "close-wait", "syn-sent", "fin-wait-1", "fin-wait-2", "last-ack"},
    "open": {"estab", "close-wait", "syn-sent", "fin-wait-1", "fin-wait-2", "last-ack"},
    "established": {"estab"}, "listening": {"listen", "unconn"}, "synchronized": {"estab", "close-wait", "time-wait"},
}  # fmt: skip


_ORDER = {"u_dgr": 0, "u_str": 0, "udp": 1, "tcp": 2}


def main(ctx: Context) -> int:
    options = _TOOL.parse(ctx)
    if options.has("h"):
        ctx.out(USAGE)
        return 0
    if options.has("V"):
        ctx.line("ss utility, iproute2-6.1.0, libbpf 1.1.0")
        return 0
    table = _table(ctx.machine)
    if options.has("s"):
        _summary(ctx, table)
        return 0
    try:
        states, condition = _filter(options.operands)
    except ValueError as error:
        ctx.stderr.write(
            f'Error: an inet prefix is expected rather than "{error}".\nCannot parse dst/src address.\n'.encode(
                "utf-8", "surrogateescape"
            )
        )
        return 1
    protocols = _protocols(options)
    one_state = len(states) == 1 or states == _GROUPS["listening"]
    if not states:
        states = _GROUPS["all" if options.has("a") else "listening" if options.has("l") else "open"]
    four, six = options.has("4"), options.has("6")
    chosen = [
        row for row in table
        if row.protocol in protocols and row.state in states and condition(row)
        and not (four and (is_ipv6(row.socket.address) or row.socket.path))
        and not (six and not is_ipv6(row.socket.address))
    ]  # fmt: skip
    chosen.sort(key=lambda row: _ORDER[row.protocol])
    _print(ctx, options, chosen, protocols, one_state=one_state)
    return 0


def _protocols(options: Options) -> set[str]:
    wanted: set[str] = set()
    for name, protocol in (("t", "tcp"), ("u", "udp"), ("x", "unix"), ("w", "raw")):
        if options.has(name):
            wanted.add(protocol)
    family = options.value("f")
    for query in options.values("A", "query", "socket"):
        wanted |= {"tcp", "udp"} if query == "inet" else set(query.split(","))
    if family == "unix":
        wanted.add("unix")
    elif family in ("inet", "inet6") and not wanted:
        wanted = {"tcp", "udp"}
    if not wanted:
        wanted = {"tcp", "udp", "raw"} if options.has("4", "6") else {"tcp", "udp", "raw", "unix"}
    return {"u_str", "u_dgr"} | wanted if "unix" in wanted else wanted


class _Shown(NamedTuple):
    """One row of the table, with its protocol and state as ss calls them."""

    socket: Socket
    owners: tuple[tuple[Process, int], ...]
    inode: int
    protocol: str
    state: str


def _table(machine: Machine) -> list[_Shown]:
    found = []
    for socket, owners, inode in rows(machine):
        protocol = _protocol(socket)
        found.append(_Shown(socket, owners, inode, protocol, _state(socket, protocol)))
    return found


def _protocol(socket: Socket) -> str:
    if socket.path or socket.protocol.startswith("unix"):
        return "u_dgr" if socket.protocol in ("unix-dgram", "unixd") else "u_str"
    return socket.protocol.removesuffix("6")


_STATES = {"ESTABLISHED": "estab", "LISTEN": "listen", "CLOSE": "unconn", "FIN-WAIT1": "fin-wait-1",
           "FIN-WAIT2": "fin-wait-2"}  # fmt: skip


def _state(socket: Socket, protocol: str) -> str:
    if protocol in ("udp", "u_dgr"):
        return "unconn"
    state = socket.state.upper().replace("_", "-")
    return _STATES.get(state, state.lower())


# -- filters


_Condition = Callable[[_Shown], bool]
_OPERATORS = ("=", "==", "!=", "eq", "ne", "neq", "<", ">", "<=", ">=", "ge", "le", "gt", "lt")
_MOST_NESTED = 50


def _filter(words: Sequence[str]) -> tuple[set[str], _Condition]:
    """States, and the condition, of `state X ( sport = :80 or dst 10.0.0.1 )`. ValueError with a word that is none."""
    queue = [part for word in words for part in re.findall(r"[()&|]+|[<>=!]=?|[^\s()<>=!&|]+", word)]
    queue = [piece for part in queue for piece in (part if set(part) <= set("()") else (part,))]
    states: set[str] = set()
    while len(queue) > 1 and queue[0] in ("state", "exclude"):
        states |= _GROUPS.get(queue[1], {queue[1]})
        del queue[:2]
    condition = _either(queue, 0) if queue else lambda _row: True
    if queue:
        raise ValueError(queue[0])
    return states, condition


def _either(queue: list[str], depth: int) -> _Condition:
    """Conditions of which one must hold: `or` binds least, and `and` may be left out."""
    found = [_all_of(queue, depth)]
    while queue and queue[0] in ("or", "|", "||"):
        queue.pop(0)
        found.append(_all_of(queue, depth))
    return found[0] if len(found) == 1 else lambda row: any(one(row) for one in found)


def _all_of(queue: list[str], depth: int) -> _Condition:
    found = [_one_of(queue, depth)]
    while queue and queue[0] not in ("or", "|", "||", ")"):
        if queue[0] in ("and", "&", "&&"):
            queue.pop(0)
        found.append(_one_of(queue, depth))
    return found[0] if len(found) == 1 else lambda row: all(one(row) for one in found)


def _one_of(queue: list[str], depth: int) -> _Condition:
    word = queue.pop(0) if queue else ""
    if depth > _MOST_NESTED:
        raise ValueError(word)
    if word in ("!", "not"):
        inner = _one_of(queue, depth + 1)
        return lambda row: not inner(row)
    if word == "(":
        inner = _either(queue, depth + 1)
        if not queue or queue.pop(0) != ")":
            raise ValueError(word)
        return inner
    if word not in ("sport", "dport", "src", "dst") or not queue:
        raise ValueError(word)
    operator = queue.pop(0) if queue[0] in _OPERATORS else "="
    term = (word, operator, queue.pop(0) if queue else "")
    return lambda row: _holds(row, term)


_NUMBERS = {
    name: number
    for number, name in (
        (80, "http"),
        (443, "https"),
        (22, "ssh"),
        (5432, "postgresql"),
        (6379, "redis"),
        (53, "domain"),
    )
}


def _holds(row: _Shown, term: tuple[str, str, str]) -> bool:
    end, operator, wanted = term
    local = end in ("sport", "src")
    address = row.socket.address if local else row.socket.peer
    port = row.socket.port if local else row.socket.peer_port
    if end in ("sport", "dport"):
        text = wanted.lstrip(":")
        number = int(text) if is_digits(text) else _NUMBERS.get(text, -1)
        return {
            "=": port == number, "==": port == number, "eq": port == number, "!=": port != number, "ne": port != number,
            "neq": port != number, "<": port < number, "lt": port < number, ">": port > number, "gt": port > number,
            "<=": port <= number, "le": port <= number, ">=": port >= number, "ge": port >= number,
        }[operator]  # fmt: skip
    host, _, service = wanted.partition(":") if wanted.count(":") == 1 else (wanted, "", "")
    same = (not host or host.split("/")[0] == address) and (not service or service == str(port))
    return same != (operator in ("!=", "ne", "neq"))


# -- printing


def _summary(ctx: Context, table: Sequence[_Shown]) -> None:
    tcp = [row for row in table if row.protocol == "tcp"]
    udp = [row for row in table if row.protocol == "udp"]
    estab = sum(1 for row in tcp if row.state == "estab")
    waiting = sum(1 for row in tcp if row.state == "time-wait")
    living = len(tcp) - waiting
    ctx.line(f"Total: {len(table) + 96}")
    ctx.line(f"TCP:   {len(tcp)} (estab {estab}, closed {waiting}, orphaned 0, timewait {waiting})")
    ctx.line()
    ctx.line("Transport Total     IP        IPv6")
    six = [sum(1 for row in group if is_ipv6(row.socket.address) and row.state != "time-wait") for group in (udp, tcp)]
    figures = [
        ("RAW\t ", 0, 0),
        ("UDP\t ", len(udp), six[0]),
        ("TCP\t ", living, six[1]),
        ("INET\t ", len(udp) + living, sum(six)),
        ("FRAG\t ", 0, 0),
    ]
    for label, total, six_count in figures:
        ctx.line(f"{label} {total:<9} {total - six_count:<9} {six_count:<9}")
    ctx.line()


def _print(ctx: Context, options: Options, chosen: Sequence[_Shown], protocols: set[str], *, one_state: bool) -> None:
    several = len(protocols - {"raw"}) > 1
    header = [*(["Netid"] if several else []), *([] if one_state else ["State"]), "Recv-Q", "Send-Q"]
    ends = ("Local Address", "Port", "Peer Address", "Port")
    lines = []
    users, extended, numeric = options.has("p"), options.has("e"), options.has("n")
    for row in chosen:
        state = row.state.upper()
        queues = ["0", str(_backlog(row)) if state == "LISTEN" else "0"]
        cells = [*([row.protocol] if several else []), *([] if one_state else [state]), *queues]
        details = (f" {_users(row)}" if users and _visible(ctx, row) else "") + (_extra(row) if extended else "")
        lines.append((cells, _ends(row, numeric), details))
    widths = [
        max(len(cells[index]) for cells in [header, *(line[0] for line in lines)]) for index in range(len(header))
    ]
    spans = [max(len(cells[index]) for cells in [ends, *(line[1] for line in lines)]) for index in range(4)]
    last = max(len(details) for details in ["Process", *(line[2] for line in lines)])
    out = []
    if not options.has("H"):
        out.append(_line(header, widths, ends, spans) + f"{'Process':<{last}}")
    out += [_line(cells, widths, sides, spans) + f"{details:<{last}}" for cells, sides, details in lines]
    ctx.spend(3 * len(out))
    ctx.out("".join(line + "\n" for line in out))


def _visible(ctx: Context, row: _Shown) -> bool:
    return ctx.cred.uid in (0, row.owners[0][0].cred.uid)


def _line(cells: Sequence[str], widths: Sequence[int], ends: Sequence[str], spans: Sequence[int]) -> str:
    head = " ".join(f"{cell:<{width}}" for cell, width in zip(cells, widths, strict=True))
    local = f"{ends[0]:>{spans[0]}}:{ends[1]:<{spans[1]}}"
    peer = f"{ends[2]:>{spans[2]}}:{ends[3]:<{spans[3]}}"
    return f"{head} {local} {peer}"


_BACKLOGS = {"sshd": 128, "postgres": 244, "redis-server": 511, "nginx": 511}


def _backlog(row: _Shown) -> int:
    return _BACKLOGS.get(row.owners[0][0].program, 128)


def _ends(row: _Shown, numeric: bool) -> tuple[str, str, str, str]:
    socket = row.socket
    if row.protocol in ("u_str", "u_dgr"):
        return socket.path or "*", str(row.inode), "*", "0" if row.state != "estab" else str(row.inode + 1)
    protocol = row.protocol

    def port(number: int) -> str:
        return "*" if number == 0 else str(number) if numeric else service_name(number, protocol)

    def address(text: str, *, peer: bool) -> str:
        if not text or text == "*":
            return ("[::]" if is_ipv6(socket.address) else "0.0.0.0") if peer else text or "0.0.0.0"  # noqa: S104
        return f"[{text}]" if is_ipv6(text) else text

    return (
        address(socket.address, peer=False),
        port(socket.port),
        address(socket.peer, peer=True),
        port(socket.peer_port),
    )


def _users(row: _Shown) -> str:
    holders = ",".join(f'("{process.name}",pid={process.pid},fd={fd})' for process, fd in reversed(row.owners))
    return f"users:({holders})"


def _extra(row: _Shown) -> str:
    uid = row.owners[0][0].cred.uid
    name = f"uid:{uid} " if uid else ""
    unit = row.owners[0][0].unit
    return f" {name}ino:{row.inode} sk:{row.inode % 4096:x} cgroup:/system.slice/{unit or 'ssh.service'} <->"
