"""Worlds on real Linux: images made from packages, an engine that starts them, and looking into them from outside.

Invariant: what is read of a world is read by our own code through the kernel (namespaces, /proc, file handles that
cannot leave the world), never by a program of the world, in which the agent is root.
"""
