"""Search in the pages of a site: the text of what editions show."""
