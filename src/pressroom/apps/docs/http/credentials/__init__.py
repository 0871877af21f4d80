"""Credentials and services of organisations over HTTP."""
