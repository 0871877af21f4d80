"""Packs (design 002): sets of documents made from one body of data, with the configuration they are made with."""
