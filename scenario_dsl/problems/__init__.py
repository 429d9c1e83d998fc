"""Every diagnostic of the language, one class each: its code, its words and the fields that fill them.

Invariant: no message is worded anywhere else. `reading` is what goes wrong between bytes and a tree, `shape` between a
tree and the schema; `templates`, `meaning` and `packs` between documents that have the right shape.
"""
