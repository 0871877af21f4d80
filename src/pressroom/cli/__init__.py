"""The command line: `main.py` runs it, and each module of a command brings its parser and its function."""
