"""Hosts that somebody owns and names in an inventory of Ansible's.

Invariant: what a host had before, it has afterwards. One that has already what we would put there is refused.
"""
