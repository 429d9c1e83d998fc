"""How text becomes the tree of `ast`: a recursive descent over the text itself, in layers.

Each module adds one class to a single line of descent (Scanner, Quoting, Expansions, Tokens, SimpleCommands,
Conditions, Compound, then `parser.Parser`), and uses only what the layers below it know and the few methods that a
layer declares for those above. Every method leaves `pos` behind what it took, or raises ShellSyntaxError.
"""
