"""The sandbox: engine processes, their pools and their confinement."""
