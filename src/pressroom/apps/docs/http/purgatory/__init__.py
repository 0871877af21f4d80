"""What was deleted over HTTP."""
