"""Batches: many packs from one upload, and all of their files as one zip archive."""
