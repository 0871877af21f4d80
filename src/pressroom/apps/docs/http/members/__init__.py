"""The tokens of an organisation over HTTP."""
