"""D2 by its own program."""
