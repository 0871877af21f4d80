"""Notifications that a job changed: in this process, from other processes, and by webhooks."""
