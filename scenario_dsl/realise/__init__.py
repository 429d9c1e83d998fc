"""Documents made concrete: parameters merged, templates rendered, values in their meaning, world by world.

Invariant: this is the only place where a world is made. `check` makes every world to judge it and the compiler to write
it down, by the same functions, so what one accepts the other takes. Documents come in with their shape checked; what
only concrete values show is a diagnostic at its place, and nothing is raised.
"""
