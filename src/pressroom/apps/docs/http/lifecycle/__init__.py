"""Lifecycle rules over HTTP."""
