"""The Ansible modules of the language, interpreted on a machine's state.

Invariant: a task does what `ansible-playbook` would do as root on such a server (resulting state, `changed`, failure),
which is held by tests against the real one. Tasks work on files and state directly; only `command` and `shell` go
through the machine's own shell, in a session of their own.
"""
