"""The HTTP service that all apps share: jobs, events, artifacts, access, operations."""
