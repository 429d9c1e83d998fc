"""netstat of net-tools 2.10: sockets, routes and interfaces."""

from __future__ import annotations

from runners.sim.commands.context import Context
from runners.sim.commands.options import Options
from runners.sim.net_tools import counters, interface_counters, route_table
from runners.sim.processes import Process
from runners.sim.socket_table import Row, is_ipv6, rows, service_name
from runners.sim.tool import Tool
from runners.sim.users import accounts

PATH = "/bin/netstat"

_TOOL = Tool(
    "netstat [-vWnNcaeol] [<Socket> ...] | netstat [-vWeenNcCF] [<Af>] -r | netstat -i",
    "r,route i,interfaces g,groups s,statistics M,masquerade v,verbose W,wide n,numeric numeric-hosts numeric-ports "
    "numeric-users N,symbolic e,extend p,programs o,timers c,continuous l,listening a,all F,fib C,cache t,tcp u,udp "
    "w,raw x,unix 4,inet 6,inet6 V,version h,help A,protocol=",
    "net-tools 2.10",
    status=4,
    hinted=False,
)  # fmt: skip


def main(ctx: Context) -> int:
    options = _TOOL.parse(ctx)
    if options.has("V"):
        ctx.line("net-tools 2.10")
        return 0
    if options.has("r"):
        for line in route_table(ctx.machine, netstat=True):
            ctx.line(line)
        return 0
    if options.has("i"):
        for line in interface_counters(ctx.machine):
            ctx.line(line)
        return 0
    if options.has("s"):
        _statistics(ctx)
        return 0
    internet = options.has("t", "u", "w") or not options.has("x")
    unix = options.has("x") or not options.has("t", "u", "w", "4", "6")
    scope = "servers and established" if options.has("a") else "only servers" if options.has("l") else "w/o servers"
    table = rows(ctx.machine)
    if internet:
        _internet(ctx, options, table, scope)
    if unix:
        _unix(ctx, options, table, scope)
    return 0


def _statistics(ctx: Context) -> None:
    """`netstat -s`: the counters of the protocols, as far as packets and connections make them."""
    machine = ctx.machine
    totals = [counters(machine, interface) for interface in machine.network.interfaces]
    received, sent = sum(one[0] for one in totals), sum(one[2] for one in totals)
    opened = machine.counters.get("connections", 0) + received // 60
    established = sum(socket.state == "ESTABLISHED" for process in machine.processes for socket in process.sockets)
    ctx.out(
        f"Ip:\n    Forwarding: 2\n    {received} total packets received\n    0 forwarded\n"
        f"    0 incoming packets discarded\n    {received} incoming packets delivered\n"
        f"    {sent} requests sent out\n"
        "Icmp:\n    0 ICMP messages received\n    0 input ICMP message failed\n    0 ICMP messages sent\n"
        f"Tcp:\n    {opened} active connection openings\n    {opened} passive connection openings\n"
        f"    0 failed connection attempts\n    0 connection resets received\n"
        f"    {established} connections established\n    {received * 9 // 10} segments received\n"
        f"    {sent * 9 // 10} segments sent out\n    0 segments retransmitted\n    0 bad segments received\n"
        f"    0 resets sent\n"
        f"Udp:\n    {received // 10} packets received\n    0 packets to unknown port received\n"
        f"    0 packet receive errors\n    {sent // 10} packets sent\n"
    )


def _wanted(options: Options, listening: bool) -> bool:
    return options.has("a") or listening == options.has("l")


def _internet(ctx: Context, options: Options, table: list[Row], scope: str) -> None:
    title = f"{'Proto':<5} Recv-Q Send-Q {'Local Address':<23} {'Foreign Address':<23} {'State':<11}"
    if options.has("e"):
        title += f" {'User':<10} {'Inode':<10}"
    if options.has("p"):
        title += f" {'PID/Program name':<20}"
    ctx.line(f"Active Internet connections ({scope})")
    ctx.line(title)
    if options.has("p") and ctx.cred.uid != 0:
        ctx.stderr.write(
            b"(Not all processes could be identified, non-owned process info\n"
            b" will not be shown, you would have to be root to see it all.)\n"
        )
    for protocol in ("tcp", "udp"):
        if options.has("t", "u") and not options.has(protocol[0]):
            continue
        for six in (False, True):
            if (options.has("4") and six) or (options.has("6") and not six):
                continue
            for row in table:
                socket = row.socket
                if socket.path or socket.protocol.removesuffix("6") != protocol or is_ipv6(socket.address) != six:
                    continue
                listening = socket.state == "LISTEN" or (protocol == "udp" and not socket.peer)
                if _wanted(options, listening):
                    ctx.line(_internet_line(ctx, options, row, protocol + ("6" if six else "")))


def _internet_line(ctx: Context, options: Options, row: Row, protocol: str) -> str:
    socket = row.socket
    numeric = options.has("n", "numeric-ports")

    def end(address: str, port: int) -> str:
        name = "*" if port == 0 else str(port) if numeric else service_name(port, protocol.removesuffix("6"))
        host = address or ("::" if protocol.endswith("6") else "0.0.0.0")  # noqa: S104
        if not options.has("n", "numeric-hosts") and host in ("127.0.0.1", "::1"):
            host = "localhost"
        if not options.has("n", "numeric-hosts") and host in ("0.0.0.0", "::"):  # noqa: S104
            host = host if host == "0.0.0.0" else "[::]"  # noqa: S104
        return f"{host}:{name}"

    state = "" if protocol.startswith("udp") and not socket.peer else socket.state.replace("-", "_")
    local, foreign = end(socket.address, socket.port), end(socket.peer, socket.peer_port)
    line = f"{protocol:<5} {0:>6} {0:>6} {local:<23} {foreign:<23} {state:<11}"
    owner = row.owners[0][0]
    if options.has("e"):
        name = str(owner.cred.uid) if options.has("n") else accounts(ctx.machine).user_name(owner.cred.uid)
        line += f" {name:<10} {row.inode:<10}"
    if options.has("p"):
        visible = ctx.cred.uid in (0, owner.cred.uid)
        line += f" {f'{owner.pid}/{_title(owner)}'[:19] if visible else '-':<20}"
    return line


def _title(process: Process) -> str:
    """The start of its command line; of a path only the last part."""
    path, blank, rest = (process.argv[0] if process.argv else process.name).partition(" ")
    return (path.rsplit("/", 1)[-1] if path.startswith("/") else path) + blank + rest


def _unix(ctx: Context, options: Options, table: list[Row], scope: str) -> None:
    ctx.line(f"Active UNIX domain sockets ({scope})")
    title = "Proto RefCnt Flags       Type       State         I-Node  "
    ctx.line(f"{title} {'PID/Program name':<20} Path" if options.has("p") else f"{title} Path")
    for row in table:
        socket = row.socket
        if not socket.path and not socket.protocol.startswith("unix"):
            continue
        listening = socket.state == "LISTEN"
        if not _wanted(options, listening):
            continue
        owner = row.owners[0][0]
        flags = "[ ACC ]" if listening else "[ ]"
        state = "LISTENING" if listening else "CONNECTED"
        program = f" {f'{owner.pid}/{owner.name}':<20}" if options.has("p") else ""
        ctx.line(
            f"unix  {2 if listening else 3:<6} {flags:<11} {'STREAM':<10} {state:<13} {row.inode:<8}{program} "
            f"{socket.path}"
        )
