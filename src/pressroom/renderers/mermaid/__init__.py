"""Mermaid, drawn without a browser."""
