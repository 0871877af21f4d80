"""The pages of the docs app, for people of an organisation: projects, builds, editions, settings and purgatory."""
