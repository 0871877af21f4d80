"""Markdown to HTML."""
