"""find's expressions: parsing them, and walking the tree with them."""
