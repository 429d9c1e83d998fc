"""The language: text in, checked documents out.

Invariant: nothing here knows of hosts, Ansible runs, bundles or agents. A `Scenario` that leaves this package has
passed every check that needs no machine; templates in it are still unrendered.
"""
