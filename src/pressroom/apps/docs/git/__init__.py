"""Refs and templates by the git protocol, and webhooks of git hosts."""
