"""Scenario to bundle; signatures, proofs and packs as data.

Invariant: nothing here touches a host. Every stage is its own type, and only `compiler.verify.verify` makes a
`VerifiedBundle`.
"""
