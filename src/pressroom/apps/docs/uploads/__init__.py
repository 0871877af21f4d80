"""Archives on their way in: staging, unpacking, inventory."""
