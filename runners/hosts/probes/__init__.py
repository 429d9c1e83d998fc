"""The probe types of the language, looked at from outside a running world. Invariant: no program of the world runs."""
