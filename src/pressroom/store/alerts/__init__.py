"""Alerts of jobs that failed for good, until they are acknowledged."""
