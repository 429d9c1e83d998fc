"""Plan documents: from a YAML file to a resolved plan and how to play it.

Invariant: whatever is wrong with the document is told with its place in it, before anything is played.
"""
