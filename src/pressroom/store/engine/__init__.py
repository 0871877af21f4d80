"""Databases: connections, the thread that writes, transactions, migrations, health checks."""
