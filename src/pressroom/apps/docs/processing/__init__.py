"""Jobs that process builds and move editions."""
