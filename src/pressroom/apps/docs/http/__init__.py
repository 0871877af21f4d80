"""The HTTP interface of the docs app."""
