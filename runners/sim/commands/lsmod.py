"""lsmod, modprobe, modinfo and rmmod of kmod: kernel modules."""

from __future__ import annotations

from runners.sim.commands.context import Context

NAMES = ("lsmod", "modprobe", "rmmod", "modinfo", "insmod")
PATH = "/sbin/lsmod"

_MODULES = (
    ("nf_tables", 323584, "nft_chain_nat,nft_compat"),
    ("nfnetlink", 20480, "nft_compat,nf_tables"),
    ("nft_compat", 20480, ""),
    ("nft_chain_nat", 16384, ""),
    ("nf_nat", 61440, "nft_chain_nat"),
    ("nf_conntrack", 188416, "nf_nat"),
    ("virtio_net", 73728, ""),
    ("net_failover", 24576, "virtio_net"),
    ("failover", 16384, "net_failover"),
    ("virtio_blk", 28672, ""),
    ("virtio_balloon", 28672, ""),
    ("virtio_rng", 16384, ""),
    ("ext4", 983040, ""),
    ("crc16", 16384, "ext4"),
    ("mbcache", 16384, "ext4"),
    ("jbd2", 180224, "ext4"),
    ("crc32c_generic", 16384, ""),
    ("kvm_intel", 393216, ""),
    ("kvm", 1146880, "kvm_intel"),
    ("ip_tables", 36864, ""),
    ("x_tables", 61440, "nft_compat,ip_tables"),
    ("configfs", 57344, ""),
    ("autofs4", 53248, ""),
)


def main(ctx: Context) -> int:
    words = [word for word in ctx.args if not word.startswith("-")]
    known = {name for name, _, _ in _MODULES}
    if ctx.name == "lsmod" and ctx.args:
        ctx.stderr.write(b"Usage: lsmod\n")
        return 1
    if ctx.name == "lsmod":
        ctx.line("Module                  Size  Used by")
        for name, size, users in _MODULES:
            count = len(users.split(",")) if users else 1 if name in ("ext4", "virtio_net") else 0
            ctx.line(f"{name:<20} {size:>8}  {count}{' ' + users if users else ''}")
        return 0
    if not words:
        ctx.err("missing parameters. See -h.")
        return 1
    if ctx.name == "modinfo":
        if words[0] not in known:
            ctx.err(f"ERROR: Module {words[0]} not found.")
            return 1
        release = ctx.machine.view().text("/proc/sys/kernel/osrelease").strip()
        ctx.line(
            f"filename:       /lib/modules/{release}/kernel/{words[0]}.ko\nlicense:        GPL\nname: "
            f"          {words[0]}\nvermagic:       {release} SMP preempt mod_unload modversions "
        )
        return 0
    if ctx.cred.uid != 0:
        ctx.err(
            f"ERROR: could not insert '{words[0]}': Operation not permitted"
            if ctx.name != "rmmod"
            else f"ERROR: could not remove module {words[0]}: Operation not permitted"
        )
        return 1
    if ctx.name == "rmmod":
        ctx.err(f"ERROR: Module {words[0]} is {'in use' if words[0] in known else 'not currently loaded'}")
        return 1
    if words[0] not in known:
        release = ctx.machine.view().text("/proc/sys/kernel/osrelease").strip()
        ctx.err(f"FATAL: Module {words[0]} not found in directory /lib/modules/{release}")
        return 1
    return 0
