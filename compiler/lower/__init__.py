"""From concrete worlds to what other programs read: Ansible playbooks and probe specifications.

Invariant: the same world gives the same bytes, and a playbook runs under plain `ansible-playbook` with ansible-core
alone.
"""
