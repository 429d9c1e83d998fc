"""hostname and hostnamectl: the machine's name."""

from __future__ import annotations

from runners.sim.commands.context import Context
from runners.sim.journal_lines import boot_id
from runners.sim.kernelfs.settings import set_sysctl
from runners.sim.network.names import ResolveFailure, hosts, resolve
from runners.sim.tool import Tool

NAMES = ("hostname", "hostnamectl", "dnsdomainname")
PATH = "/bin/hostname"

_HOSTNAME = Tool(
    "hostname [-a|-A|-d|-f|-i|-I|-s|-y] | hostname [-b] {hostname|-F file}",
    "a,alias A,all-fqdns b,boot d,domain f,fqdn F,file= i,ip-address I,all-ip-addresses s,short y,yp "
"long V,version h,help",
    "hostname 3.23", status=1, hinted=False,
)  # fmt: skip
_CTL = Tool(
    "hostnamectl [OPTIONS...] COMMAND ...",
    "h,help transient static pretty json= H,host= M,machine= no-ask-password",
    "systemd 252 (252.22-1~deb12u1)",
    hinted=False,
)


def _current(ctx: Context) -> str:
    return ctx.machine.view().text("/proc/sys/kernel/hostname").strip() or ctx.machine.spec.hostname


def main(ctx: Context) -> int:
    if ctx.name == "hostnamectl":
        return _hostnamectl(ctx)
    options = _HOSTNAME.parse(ctx)
    name = _current(ctx)
    new = options.operands[0] if options.operands else None
    if options.has("F"):
        try:
            new = ctx.files.text(options.value("F") or "").strip()
        except OSError as error:
            ctx.err(f"{error.strerror}")
            return 1
    if new is not None:
        if ctx.cred.uid != 0:
            ctx.err("you must be root to change the host name")
            return 1
        set_sysctl(ctx.machine, "kernel.hostname", new)
        return 0
    if options.has("I"):
        addresses = [
            address.text
            for interface in ctx.machine.network.interfaces
            if interface.name != "lo" and interface.up
            for address in interface.addresses
        ]
        ctx.line("".join(f"{address} " for address in addresses))
        return 0
    if options.has("i", "f", "long", "d", "A", "a") or ctx.name == "dnsdomainname":
        address = resolve(ctx.machine, name)
        if isinstance(address, ResolveFailure):
            ctx.err(address.message)
            return 1
        names = _names_of(ctx, address, name)
        full = names[0]
        if options.has("i"):
            ctx.line(address)
        elif options.has("d") or ctx.name == "dnsdomainname":
            if "." in full:
                ctx.line(full.split(".", 1)[1])
        elif options.has("a"):
            ctx.line(" ".join(names[1:]))
        else:
            ctx.line(full)
        return 0
    ctx.line(name.split(".")[0] if options.has("s") else name)
    return 0


def _names_of(ctx: Context, address: str, name: str) -> list[str]:
    """The names on the line of /etc/hosts that gave the address; the first is the canonical one."""
    try:
        text = ctx.machine.view().text("/etc/hosts")
    except OSError:
        return [name]
    if hosts(text).get(name.lower()) == address:
        for line in text.splitlines():
            words = line.split("#", 1)[0].split()
            if len(words) > 1 and words[0] == address and name in words[1:]:
                return words[1:]
    return [name]


def _hostnamectl(ctx: Context) -> int:
    options = _CTL.parse(ctx)
    verb, *rest = options.operands or ["status"]
    name = _current(ctx)
    if verb in ("set-hostname", "hostname") and rest:
        if ctx.cred.uid != 0:
            ctx.stderr.write(b"Could not set static hostname: Interactive authentication required.\n")
            return 1
        ctx.machine.view().write("/etc/hostname", f"{rest[0]}\n".encode("utf-8", "surrogateescape"))
        set_sysctl(ctx.machine, "kernel.hostname", rest[0])
        return 0
    if verb == "hostname" or options.has("static", "transient"):
        ctx.line(name)
        return 0
    if verb != "status":
        ctx.stderr.write(f"Unknown command verb {verb}.\n".encode("utf-8", "surrogateescape"))
        return 1
    view = ctx.machine.view()

    def text(path: str, default: str = "") -> str:
        try:
            return view.text(path).strip()
        except OSError:
            return default

    pretty = next(
        (
            line.split("=", 1)[1].strip('"')
            for line in text("/etc/os-release").splitlines()
            if line.startswith("PRETTY_NAME=")
        ),
        "Debian GNU/Linux 12 (bookworm)",
    )
    rows = [
        ("Static hostname", text("/etc/hostname", name)),
        ("Icon name", "computer-vm"),
        ("Chassis", "vm"),
        ("Machine ID", text("/etc/machine-id")),
        ("Boot ID", boot_id(ctx.machine)),
        ("Virtualization", "kvm"),
        ("Operating System", pretty),
        ("Kernel", f"Linux {text('/proc/sys/kernel/osrelease')}"),
        ("Architecture", "x86-64"),
        ("Hardware Vendor", "QEMU"),
        ("Hardware Model", "Standard PC _Q35 + ICH9, 2009_"),
        ("Firmware Version", "1.16.2-debian-1.16.2-1"),
    ]
    for label, value in rows:
        if value:
            ctx.line(f"{label:>16}: {value}")
    return 0
