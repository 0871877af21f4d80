"""`./dev attack`: what an outsider can send, against a real service that needs tokens; see `__main__.py`."""
