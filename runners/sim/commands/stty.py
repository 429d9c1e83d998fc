"""stty: the terminal's settings. Without a terminal there are none."""

from __future__ import annotations

from runners.sim.commands.context import Context
from runners.sim.commands.options import parse
from runners.sim.shell.nesting import Keyboard

_ALL = """speed 38400 baud; rows 24; columns 80; line = 0;
intr = ^C; quit = ^\\; erase = ^?; kill = ^U; eof = ^D; eol = <undef>; eol2 = <undef>; swtch = <undef>; start = ^Q;
stop = ^S; susp = ^Z; rprnt = ^R; werase = ^W; lnext = ^V; discard = ^O; min = 1; time = 0;
-parenb -parodd -cmspar cs8 -hupcl -cstopb cread -clocal -crtscts
-ignbrk -brkint -ignpar -parmrk -inpck -istrip -inlcr -igncr icrnl ixon -ixoff -iuclc -ixany -imaxbel iutf8
opost -olcuc -ocrnl onlcr -onocr -onlret -ofill -ofdel nl0 cr0 tab0 bs0 vt0 ff0
isig icanon iexten echo echoe echok -echonl -noflsh -xcase -tostop -echoprt echoctl echoke -flusho -extproc"""


def main(ctx: Context) -> int:
    words = [f"./{word}" if word.startswith("-") and word not in ("-a", "-g") else word for word in ctx.args]
    options = parse(
        ctx, "agF:", ["all/a", "save/g", "file=/F"], arguments=words,
        usage="Usage: stty [-F DEVICE | --file=DEVICE] [SETTING]...\nPrint or change terminal characteristics.",
    )  # fmt: skip
    if not isinstance(ctx.stdin, Keyboard):
        ctx.err("'standard input': Inappropriate ioctl for device")
        return 1
    if options.has("g"):
        ctx.line("4500:5:bf:8a3b:3:1c:7f:15:4:0:1:0:11:13:1a:0:12:f:17:16:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0")
    elif options.operands == ["size"]:
        ctx.line("24 80")
    elif options.has("a"):
        ctx.line(_ALL)
    elif not options.operands:
        ctx.line("speed 38400 baud; line = 0;\n-brkint -imaxbel iutf8")
    return 0
