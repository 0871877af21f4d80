"""The pages of the desk. Each module has a `router(desk)`."""
