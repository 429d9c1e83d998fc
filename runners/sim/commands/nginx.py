"""nginx as a command: test, dump, signal or start the server."""

from __future__ import annotations

from collections.abc import Iterator

from runners.sim.commands.context import Context
from runners.sim.lifecycle import Failure, spawn
from runners.sim.processes import Process
from runners.sim.programs.nginx import VERSION, Options, config_line, send, test_config
from runners.sim.programs.nginx_config import load
from runners.sim.programs.nginx_grammar import ConfigError, Directive, parse

PATH = "/usr/sbin/nginx"

_HELP = """nginx version: {version}
Usage: nginx [-?hvVtTq] [-s signal] [-p prefix]
             [-e filename] [-c filename] [-g directives]

Options:
  -?,-h         : this help
  -v            : show version and exit
  -V            : show version and configure options then exit
  -t            : test configuration and exit
  -T            : test configuration, dump it and exit
  -q            : suppress non-error messages during configuration testing
  -s signal     : send signal to a master process: stop, quit, reopen, reload
  -c filename   : set configuration file
  -g directives : set global directives out of configuration file
"""


def main(ctx: Context) -> int:
    words = ctx.args
    if any(word in ("-h", "-?", "--help") for word in words):
        ctx.stderr.write(_HELP.format(version=VERSION).encode("utf-8", "surrogateescape"))
        return 0
    if "-v" in words:
        ctx.stderr.write(f"nginx version: {VERSION}\n".encode("utf-8", "surrogateescape"))
        return 0
    if "-V" in words:
        ctx.stderr.write(
            f"nginx version: {VERSION}\nbuilt with OpenSSL 3.0.8 7 Feb 2023 (running with OpenSSL 3.0.11 19 Sep 2023)\n"
            "TLS SNI support enabled\nconfigure arguments: --prefix=/usr/share/nginx --conf-path=/etc/nginx/nginx.conf "
            "--http-log-path=/var/log/nginx/access.log --error-log-path=stderr "
"--lock-path=/var/lock/nginx.lock "
            "--pid-path=/run/nginx.pid --modules-path=/usr/lib/nginx/modules --with-http_ssl_module "
"--with-http_stub_status_module "
            "--with-http_realip_module --with-http_v2_module --with-threads\n".encode("utf-8", "surrogateescape")
        )  # fmt: skip
        return 0
    bad = next(
        (word for word in words if word.startswith("-") and len(word) == 2 and word[1] not in "tTqscgpe?hvV"), None
    )
    if bad is not None:
        ctx.stderr.write(f'nginx: invalid option: "{bad[1:]}"\n'.encode("utf-8", "surrogateescape"))
        return 1
    options = Options(("nginx", *words))
    if options.signal:
        return _signal(ctx, options)
    if options.test:
        return _test(ctx, options, dump=any("T" in word for word in words if word.startswith("-")))
    return _start(ctx)


def _say(ctx: Context, line: str) -> None:
    ctx.stderr.write((line + "\n").encode("utf-8", "surrogateescape"))


def _test(ctx: Context, options: Options, *, dump: bool) -> int:
    lines, status = test_config(ctx.machine, ctx.cred, ctx.pid, options.path, quiet=options.quiet)
    for line in lines:
        _say(ctx, line)
    if dump and status == 0:
        for path in dict.fromkeys([options.path, *_files(parse(ctx.files, options.path))]):
            ctx.line(f"# configuration file {path}:")
            ctx.stdout.write(ctx.files.read(path))
            ctx.line()
    return status


def _files(block: tuple[Directive, ...]) -> Iterator[str]:
    """The files that the directives stand in, in the order they were read."""
    for directive in block:
        yield directive.file
        yield from _files(directive.block or ())


def _signal(ctx: Context, options: Options) -> int:
    if options.signal not in ("stop", "quit", "reload", "reopen"):
        _say(ctx, f'nginx: invalid option: "-s {options.signal}"')
        return 1
    try:
        config = load(ctx.machine, ctx.cred, options.path)
    except ConfigError as error:
        _say(ctx, config_line(ctx.machine, ctx.pid, "emerg", error))
        return 1
    return send(ctx.machine, config, options.signal, ctx.pid, lambda line: _say(ctx, line))


def _start(ctx: Context) -> int:
    """The server itself, started by hand: outside of any unit."""
    said: list[str] = []
    started = spawn(ctx.machine, ("/usr/sbin/nginx", *ctx.args), cred=ctx.cred, cwd=ctx.files.cwd, stderr=said)
    for line in said:
        _say(ctx, line)
    if isinstance(started, Failure):
        _say(ctx, f"nginx: {started.message}")
        return 1
    living: Process | None = ctx.machine.processes.get(started.pid)
    return 0 if living is not None else 1
