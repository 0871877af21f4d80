"""Artifacts, the bytes they refer to, and the render cache."""
