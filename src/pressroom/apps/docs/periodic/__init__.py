"""Jobs that run by a schedule."""
