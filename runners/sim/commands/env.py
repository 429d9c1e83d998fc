"""env: run a program in a modified environment."""

from __future__ import annotations

from runners.sim.commands import wrappers
from runners.sim.commands.context import Context
from runners.sim.commands.inputs import describe
from runners.sim.commands.options import parse


def main(ctx: Context) -> int:
    arguments = ctx.args
    if arguments[:1] == ["-"]:
        arguments = ["-i", *arguments[1:]]
    options = parse(
        ctx, "+iu:C:S:0v", ["ignore-environment/i", "unset=/u", "chdir=/C", "split-string=/S", "null/0", "debug/v"],
        status=125, arguments=arguments,
        usage="Usage: env [OPTION]... [-] [NAME=VALUE]... [COMMAND [ARG]...]\n"
        "Set each NAME to VALUE in the environment and run COMMAND.",
    )  # fmt: skip
    operands = list(options.operands)
    text = options.value("S")
    if text is not None:
        operands = [*text.split(), *operands]
    environment = {} if options.has("i") else dict(ctx.environment)
    for name in options.values("u"):
        environment.pop(name, None)
    while operands and "=" in operands[0]:
        name, _, value = operands.pop(0).partition("=")
        environment[name] = value
    folder = options.value("C")
    if folder is not None:
        try:
            ctx.files.names(folder)
        except OSError as error:
            ctx.die(f"cannot change directory to ‘{folder}’: {describe(error)}", 125)
        ctx.files.cwd = ctx.files.real_path(folder)
    ctx.environment = environment
    if not operands:
        end = "\0" if options.has("0") else "\n"
        for name, value in environment.items():
            ctx.out(f"{name}={value}{end}")
        return 0
    return wrappers.run(ctx, operands, message="‘{name}’: {problem}", in_place=True)
