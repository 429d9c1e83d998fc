"""Where trials are played: in this process, or spread by Ray over a laptop's cores or a cluster's.

Invariant: an executor yields exactly one line for each job it took, whatever happens to its workers; it writes nothing
itself. Ray is imported by `ray_pool` alone.
"""
