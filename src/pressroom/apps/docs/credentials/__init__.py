"""Secrets of organisations, encrypted by a key of ours or by Vault, and the services that use them."""
