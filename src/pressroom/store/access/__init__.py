"""Tokens, browser sessions, and answers to idempotent requests."""
