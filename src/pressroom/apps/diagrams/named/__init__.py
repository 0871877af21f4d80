"""Named diagrams: versions of a source under a name, and the URLs that embed the latest good picture."""
