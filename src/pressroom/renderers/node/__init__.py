"""Node.js, and the languages that are drawn in it."""
