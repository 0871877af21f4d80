"""Workers claim jobs under a lease, run them, and settle what came of it."""
