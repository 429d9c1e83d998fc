"""The entry point: a table of commands, loaded one at a time so that `--help` is quick, and the exit codes.

0 done; 1 the input is wrong, or a proof or a comparison failed; 2 the machine lacks something or the usage is wrong;
3 a fault of ours; 130 Ctrl-C.
"""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from types import FrameType

import typer

from breakfix import __version__
from breakfix.cli.output import failure
from scenario_dsl.errors import BreakfixError, InternalError

_INTERRUPTED = 130
_OF_THEIR_OWN = ("run", "demo", "play")
"""Commands that end with that code by themselves: they say what is kept, or pass on how a script ended."""
COMMANDS: Mapping[str, str] = {
    "demo": "The whole line once: compile, prove, sign, verify, run and report the starter pack.",
    "new": "Write a small pack with one scenario to begin with.",
    "check": "Check scenarios, faults, systems or a whole pack, and point at every mistake.",
    "compile": "Compile a pack into a bundle: a folder and one reproducible tar.",
    "prove": "Prove that a pack's graders discriminate.",
    "agree": "Play the same in two backends and count where they differ.",
    "image": "Make the image that a system's containers start from, from Debian packages.",
    "clean": "Remove what interrupted runs left in the container engine.",
    "keygen": "Make a key pair for signing.",
    "sign": "Sign a bundle together with its proof.",
    "verify": "Verify a signed bundle against the keys you trust, or a report against its records.",
    "run": "Run agents over a verified bundle's worlds.",
    "status": "Say how far a run is: rate, time left, cost, errors by kind.",
    "report": "Turn runs into leaderboards, pages, plots and tables.",
    "export": "Write a run's frames, or training data from it, for other tools.",
    "replay": "Run one recorded trial again and compare it byte for byte.",
    "attempt": "Make one repair stage by stage, from the complaint to a signed receipt.",
    "receipt": "Read a receipt, or verify it offline.",
    "contrast": "Show gold and a bad habit side by side: what each did, what each gate said.",
    "play": "Sit at the prompt yourself: a scenario, or an unbroken system.",
    "graph": "Draw a scenario for its author: cause, cascades, symptom, objectives.",
    "schema": "Print the JSON Schema of the language, for editors.",
    "capabilities": "Say what each backend can do here, what is missing and how to get it.",
}
"""Each command's summary. `breakfix/cli/<name>_.py` holds it: the function `command`, or commands in a `group`."""

_HELP = """Compile, prove, sign and run failure scenarios for AI system administrators.

Machine recovered, understanding not proven: a repair is VERIFIED only if it also mends a hidden twin with the same
cause, leaves a healthy control unharmed, is idempotent and can be rolled back.
"""

_EPILOG = """Start with `breakfix demo`, then `breakfix play process-recovery`. Each command's `--help` has examples."""


def _stub() -> None:
    """Stands in for a command that this call does not need."""


def _application(arguments: Sequence[str]) -> typer.Typer:
    application = typer.Typer(
        name="breakfix",
        help=_HELP,
        epilog=_EPILOG,
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode="markdown",
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    asked = next((word for word in arguments if not word.startswith("-")), None)
    for name, summary in COMMANDS.items():
        function: Callable[..., object] = _stub
        if name == asked:
            module = import_module(f"breakfix.cli.{name}_")
            if hasattr(module, "group"):
                application.add_typer(module.group, name=name, short_help=summary)
                continue
            function = module.command
        application.command(name, short_help=summary)(function)

    @application.callback(invoke_without_command=True)
    def _root(
        version: bool = typer.Option(False, "--version", help="Print the version and exit.", is_eager=True),
    ) -> None:
        if version:
            typer.echo(f"breakfix {__version__}")
            raise typer.Exit

    return application


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code; nothing escapes but SystemExit's own code."""
    try:
        outcome = _application(arguments)(args=list(arguments), standalone_mode=False)
        if outcome == _INTERRUPTED and arguments[0] not in _OF_THEIR_OWN:
            # Ctrl-C, which typer has caught.
            typer.echo("\ninterrupted", err=True)
        return outcome if isinstance(outcome, int) else 0
    except InternalError as error:
        return _our_fault(arguments, str(error))
    except BreakfixError as error:
        failure(error)
        return error.exit_code
    except (KeyboardInterrupt, typer.Abort):
        typer.echo("\ninterrupted", err=True)
        return _INTERRUPTED
    except BrokenPipeError:
        # The reader went away (`| head`); what is left in the buffer must not raise at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 1
    except Exception as error:
        usage = getattr(error, "show", None)
        if usage is not None:  # typer's own usage errors know how to show themselves
            usage()
            return 2
        return _our_fault(arguments, f"{type(error).__name__}: {error}")


def _our_fault(arguments: Sequence[str], what: str) -> int:
    """Say `what` went wrong, and keep what a report needs."""
    handle, name = tempfile.mkstemp(prefix="breakfix-crash-", suffix=".txt")
    with os.fdopen(handle, "w") as file:
        file.write(f"breakfix {__version__}\narguments: {list(arguments)!r}\n\n{traceback.format_exc()}")
    typer.echo(f"internal error: {what}", err=True)
    typer.echo(f"This is a fault of breakfix, not yours. Please report it with {Path(name)}", err=True)
    return 3


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def main() -> None:
    """The console script. Who is asked to end cleans up as after Ctrl-C."""
    signal.signal(signal.SIGTERM, _interrupt)
    sys.exit(run(sys.argv[1:]))
