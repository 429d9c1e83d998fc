"""The TransferGate: from "recovered" to "verified", by facts established in fresh worlds.

Invariant: deterministic, no model involved, and never green by default: what could not be established is `unknown`.
Each check is one function that returns one `GateFact`; `runners.records.judge` alone turns facts into a verdict.
"""
