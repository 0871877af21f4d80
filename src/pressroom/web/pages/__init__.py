"""The pages of the dashboard. Each module has a `router(site)`."""
