"""python -m breakfix: the same as the `breakfix` command."""

from breakfix.cli.main import main

main()
