"""Worlds on hosts with sched_ext: a virtual machine of our own making, or a machine that somebody names.

Invariant: nothing here decides what a scheduler is worth. The guest counts and reads; what was expected is compared on
this side; and a host that is not as it was is not used again.
"""
