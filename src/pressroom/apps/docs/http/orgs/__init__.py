"""Organisations over HTTP."""
