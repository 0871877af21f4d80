"""Jobs: submit, claim, settle, progress, maintenance, and reading them."""
