"""The language of shells: the tree that a text is, and what makes it. Nothing here runs anything."""
