"""Two backends beside each other: the same bundle is played in both, and what they say is compared.

Invariant: everything is counted, what agrees and what does not; nothing is left out because it differs.
"""
