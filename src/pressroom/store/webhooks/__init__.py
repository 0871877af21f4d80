"""Webhooks, their secrets and their deliveries."""
