"""Kroki's HTTP interface at `/kroki`: its URLs, options and errors."""
