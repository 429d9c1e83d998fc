"""The commands that are part of the shell itself; `table` lists them."""
