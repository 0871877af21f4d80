"""Projects over HTTP."""
