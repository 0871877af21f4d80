"""The listener that serves documentation sites to readers.

Sites bring scripts. They are served from an origin of their own, on which there is neither the HTTP interface nor a page of
Pressroom, and where no cookie of Pressroom's pages counts.
"""
