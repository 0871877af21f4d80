"""Rows of the docs app: units of work."""
