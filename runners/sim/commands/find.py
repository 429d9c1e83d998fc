"""find: search for files in a directory hierarchy."""

from __future__ import annotations

from runners.sim.commands.context import Context
from runners.sim.commands.find_expression.parsing import FindError, parse_expression
from runners.sim.commands.find_expression.walking import Walk

_USAGE = """Usage: find [-H] [-L] [-P] [-Olevel] [-D debugopts] [path...] [expression]

Default path is the current directory; default expression is -print.
Expression may consist of: operators, options, tests, and actions."""


def main(ctx: Context) -> int:
    words = ctx.args
    index = 0
    follow = follow_operands = False
    while index < len(words) and words[index] in ("-H", "-L", "-P"):
        follow = words[index] == "-L"
        follow_operands = words[index] == "-H"
        index += 1
    paths: list[str] = []
    while index < len(words) and not words[index].startswith("-") and words[index] not in ("(", ")", "!", ","):
        paths.append(words[index])
        index += 1
    rest = words[index:]
    if rest[:1] in (["--help"], ["-help"]):
        ctx.line(_USAGE)
        return 0
    if rest[:1] in (["--version"], ["-version"]):
        ctx.line("find (GNU findutils) 4.9.0")
        return 0
    try:
        expression = parse_expression(ctx, rest)
    except FindError as problem:
        ctx.err(str(problem))
        return 1
    walk = Walk(ctx, expression, follow=follow or expression.follow)
    for path in paths or ["."]:
        walk.top(path, follow=follow_operands)
        if walk.quit:
            break
    walk.finish()
    return walk.status
