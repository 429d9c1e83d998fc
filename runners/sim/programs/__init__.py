"""The simulated server's daemons: one module each, whose PROGRAMS maps names of implementations to their program."""

from __future__ import annotations
