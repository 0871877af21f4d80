"""Editions over HTTP."""
