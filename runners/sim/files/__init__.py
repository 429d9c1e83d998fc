"""Files: contents, inodes, the tree with its mounts, and a process's permission-checked view of it.

Every failure is an OSError with Linux's errno, so that commands print `strerror` as real ones do.
"""
