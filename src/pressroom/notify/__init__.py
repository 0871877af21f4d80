"""Telling those who wait. The worker persists, not the waiter: a caller that gives up changes nothing."""
