"""What a typed line would do, read before anything runs and without running anything: the same for every backend.

A line is parsed as bash parses it, and followed through what only wraps a command (sudo, env, xargs, `bash -c`, pipes
into a shell, find's -exec), through variables, functions, aliases and folders as far as they are known from what was
typed before. What cannot be known (a file's content, another program's output) is taken to be harmless.
"""

from __future__ import annotations
