"""Chromium, and what is rendered in it."""
