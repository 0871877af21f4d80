"""Documentation (design 004) as an app: built sites are uploaded, become editions, are published and served."""
