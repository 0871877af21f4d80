"""The listener that serves sites to readers. It has an origin of its own: sites bring scripts."""
