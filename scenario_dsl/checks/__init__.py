"""The meaning of documents of the right shape: names, arguments, points, cascades, worlds, interventions, policies.

Invariant: a check yields diagnostics and changes nothing; each one can run without the others.
"""
