"""lscpu and lsmem of util-linux 2.38.1: processors and memory."""

from __future__ import annotations

from runners.sim.commands.context import Context
from runners.sim.process_info import meminfo
from runners.sim.ps_columns import cpu_count
from runners.sim.tool import Tool

NAMES = ("lscpu", "lsmem")

_TOOL = Tool(
    "{name} [options]",
    "a,all b,online B,bytes C,caches=? c,offline e,extended=? J,json n,noheadings p,parse=? s,sysroot= "
    "x,hex y,physical output-all o,output= summary=? V,version h,help",
    "lscpu from util-linux 2.38.1",
)


def main(ctx: Context) -> int:
    options = _TOOL.parse(ctx)
    cpus = cpu_count(ctx.machine)
    if ctx.name == "lsmem":
        total = meminfo(ctx.machine)["MemTotal"] * 1024
        gib = -(-total // (1 << 30))
        ctx.line(
            f"RANGE                                 SIZE  STATE REMOVABLE BLOCK\n"
            f"0x0000000000000000-0x{(gib << 30) - 1:016x} {gib:>4}G online       yes 0-{gib * 8 - 1}"
        )
        ctx.line(f"\nMemory block size:       128M\nTotal online memory:   {gib:>6}G\nTotal offline memory:      0B")
        return 0
    if options.has("p"):
        ctx.line(
            "# The following is the parsable format, which can be fed to other\n# programs. Each "
            "different item in every column has an unique ID\n# starting usually from zero.\n# "
            "CPU,Core,Socket,Node,,L1d,L1i,L2,L3"
        )
        for cpu in range(cpus):
            ctx.line(f"{cpu},{cpu},0,0,,{cpu},{cpu},{cpu},0")
        return 0
    if options.has("e"):
        ctx.line("CPU NODE SOCKET CORE L1d:L1i:L2:L3 ONLINE")
        for cpu in range(cpus):
            ctx.line(f"{cpu:>3}    0      0 {cpu:>4} {cpu}:{cpu}:{cpu}:0           yes")
        return 0
    model = str(ctx.machine.spec.settings.get("cpu_model") or "Intel(R) Xeon(R) CPU @ 2.20GHz")
    amd = "AMD" in model
    shown = "0" if cpus == 1 else f"0-{cpus - 1}" if cpus > 2 else "0,1"
    plural = "s" if cpus > 1 else ""
    rows = [
        ("Architecture", "x86_64"),
        ("  CPU op-mode(s)", "32-bit, 64-bit"),
        ("  Address sizes", "46 bits physical, 48 bits virtual"),
        ("  Byte Order", "Little Endian"),
        ("CPU(s)", str(cpus)),
        ("  On-line CPU(s) list", shown),
        ("Vendor ID", "AuthenticAMD" if amd else "GenuineIntel"),
        ("  Model name", model),
        ("    CPU family", "23" if amd else "6"),
        ("    Model", "49" if amd else "85"),
        ("    Thread(s) per core", "1"),
        ("    Core(s) per socket", str(cpus)),
        ("    Socket(s)", "1"),
        ("    Stepping", "0" if amd else "7"),
        ("    BogoMIPS", "4400.00"),
        (
            "    Flags",
            "fpu vme de pse tsc msr pae mce cx8 apic sep mtrr pge mca cmov pat pse36 clflush "
            "mmx fxsr sse sse2 ht syscall nx pdpe1gb rdtscp lm constant_tsc rep_good nopl cpuid pni pclmulqdq "
            "ssse3 fma cx16 sse4_1 sse4_2 movbe popcnt aes xsave avx f16c rdrand hypervisor lahf_lm abm",
        ),
        ("Virtualization features", ""),
        ("  Hypervisor vendor", "KVM"),
        ("  Virtualization type", "full"),
        ("Caches (sum of all)", ""),
        ("  L1d", f"{32 * cpus} KiB ({cpus} instance{plural})"),
        ("  L1i", f"{32 * cpus} KiB ({cpus} instance{plural})"),
        ("  L2", f"{cpus} MiB ({cpus} instance{plural})"),
        ("  L3", "32 MiB (1 instance)"),
        ("NUMA", ""),
        ("  NUMA node(s)", "1"),
        ("  NUMA node0 CPU(s)", shown),
    ]
    # Headings and indentation are for terminals; a pipe gets the plain list.
    nested = ctx.stdout.is_terminal
    rows = (
        rows
        if nested
        else [
            (label.strip() + (" cache" if label.strip() in ("L1d", "L1i", "L2", "L3") else ""), value)
            for label, value in rows
            if value
        ]
    )
    width = max(len(label) for label, _ in rows) + 2
    for label, value in rows:
        ctx.line(f"{label + ':':<{width}} {value}".rstrip())
    return 0
