"""Dashboard templates that are bound to git repositories."""
