"""`pressroom docs`: organisations, projects, builds and editions from the command line."""
