"""Who plays: one file per agent, and the interface that others' agents implement.

Invariant: an agent sees its briefing and what its own commands print. Only the scripted agents, which are made from a
scenario's own solutions, are handed more, and they get it here, never through their world.
"""
