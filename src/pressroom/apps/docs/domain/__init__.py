"""The rules of the docs app as pure functions: no clock, no database."""
