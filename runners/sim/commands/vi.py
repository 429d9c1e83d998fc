"""vi and ex, which on Debian are vim.tiny 9.0: scripts of ex commands run, but there is no screen to type at."""

from __future__ import annotations

from runners.sim.commands.context import Context
from runners.sim.commands.ex_script import Buffer, Quit

NAMES = ("vi", "view", "ex", "vim.tiny", "editor", "sensible-editor")

_VERSION = "VIM - Vi IMproved 9.0 (2022 Jun 28, compiled May 04 2023 10:24:44)\nIncluded patches: 1-1378, 1499\n"


def main(ctx: Context) -> int:
    if "--version" in ctx.args:
        ctx.out(_VERSION)
        return 0
    if ctx.name == "sensible-editor":
        chosen = ctx.environment.get("VISUAL") or ctx.environment.get("EDITOR") or ""
        if chosen:
            return ctx.run(["/bin/sh", "-c", f'{chosen} "$@"', chosen, *ctx.args])
    line = _CommandLine(ctx.name == "ex", ctx.args)
    buffer = Buffer(ctx, line.files[0] if line.files else None)
    if not line.silent and not line.ex:
        if not ctx.stdout.is_terminal:
            ctx.stderr.write(b"Vim: Warning: Output is not to a terminal\n")
        ctx.stderr.write(b"Vim: Warning: Input is not from a terminal\n")
    buffer.silent = line.silent
    if line.silent:
        buffer.current = max(len(buffer.lines), 1)
    try:
        buffer.script(line.commands)
        if line.ex:
            data = ctx.stdin.read().decode("utf-8", "surrogateescape")
            buffer.script(data.removesuffix("\n").split("\n") if data else [])
            return int(buffer.failed)
    except Quit:
        return int(buffer.failed and line.ex)
    ctx.sleep(2.0)
    ctx.stderr.write(b"Vim: Error reading input, exiting...\nVim: Finished.\n")
    return 1


class _CommandLine:
    """`ex`: no screen (-e, or called ex); `silent`: -s with it; `commands`: of -c and +, in their order."""

    def __init__(self, ex: bool, words: list[str]) -> None:
        self.ex = ex
        self.silent = False
        self.commands: list[str] = []
        self.files: list[str] = []
        rest = list(words)
        while rest:
            word = rest.pop(0)
            if word == "--":
                self.files += rest
                break
            if word.startswith("+"):
                self.commands.append(word[1:] or "$")
            elif word.startswith("--cmd"):
                rest = rest[1:]
            elif word.startswith("-") and len(word) > 1 and not word.startswith("--"):
                self._letters(word[1:], rest)
            elif not word.startswith("--"):
                self.files.append(word)

    def _letters(self, letters: str, rest: list[str]) -> None:
        while letters:
            letter, letters = letters[0], letters[1:]
            if letter in "eE":
                self.ex = True
            elif letter == "s" and self.ex:
                self.silent = True
            elif letter == "c":
                self.commands.append(letters or (rest.pop(0) if rest else ""))
                return
            elif letter in "uUiTtSwW":
                if not letters and rest:
                    rest.pop(0)
                return
