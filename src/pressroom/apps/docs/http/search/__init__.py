"""Search in documentation over HTTP."""
