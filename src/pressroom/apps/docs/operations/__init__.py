"""What people and programs do with organisations, projects, builds and editions. HTTP, pages and commands use these alike."""
