"""One attempt, stage by stage: what was seen, foretold, contracted, done and proven, each written down before the next.

Invariant: the log only grows, every line of it names the hash of the one before, and no stage is skipped or repeated.
The verdict is that of an ordinary trial in which the same was typed, so that nobody earns more here than in a run.
"""
