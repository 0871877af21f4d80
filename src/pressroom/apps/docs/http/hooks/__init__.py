"""Webhooks of git hosts."""
