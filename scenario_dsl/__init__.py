"""The language: text in, checked documents and their concrete worlds out.

Invariant: nothing here knows of hosts, Ansible runs, bundles or agents. What leaves this package has passed every check
that needs no machine: a `Scenario` still holds its templates, and `realise` puts them in, for whoever asks, one way.
"""
