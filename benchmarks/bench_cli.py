"""How long the command line takes to answer, beside the interpreter's own start. Medians of alternating runs.

Run: python benchmarks/bench_cli.py [RUNS]
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

RUNS = 15
FLOOR = ("-c", "pass")
COMMANDS: tuple[tuple[str, ...], ...] = (("--version",), ("--help",), ("check", "--help"))
START = "from breakfix.cli import main; main()"


def seconds(*arguments: str) -> float:
    """One start of the interpreter, to its end."""
    begun = time.perf_counter()
    subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
    return time.perf_counter() - begun


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else RUNS
    floor: list[float] = []
    taken: dict[tuple[str, ...], list[float]] = {command: [] for command in COMMANDS}
    for command in COMMANDS:
        seconds("-c", START, *command)
    for _ in range(runs):
        floor.append(seconds(*FLOOR))
        for command in COMMANDS:
            taken[command].append(seconds("-c", START, *command))
    base = statistics.median(floor)
    print(f"{'python -c pass':<28}{1e3 * base:8.0f} ms   (the floor; n = {runs}, medians throughout)")
    for command, times in taken.items():
        median = statistics.median(times)
        print(f"{'breakfix ' + ' '.join(command):<28}{1e3 * median:8.0f} ms   {median / base:5.1f} × floor")


if __name__ == "__main__":
    main()
