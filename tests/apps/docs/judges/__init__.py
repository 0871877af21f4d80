"""Judges of documentation sites that nobody here wrote: sites of released packages, and the programs that read them."""
