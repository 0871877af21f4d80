"""Bundles: the ready documents of a pack as one PDF, with an outline, a contents page and page numbers that run on."""
