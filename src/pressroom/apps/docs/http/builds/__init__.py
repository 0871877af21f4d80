"""Builds over HTTP."""
