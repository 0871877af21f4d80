"""Queues that are wrong on purpose, each by one mistake. The judge must catch every one of them: a judge that never
convicts proves nothing. `spoil` puts the mistake into the statements of its process; the rest is our own code."""


def replace(statements: dict[str, str], name: str, old: str, new: str) -> None:
    """Change a statement, or say that it no longer reads as this variant believes."""
    if old not in statements[name]:
        raise ValueError(f"{name}.sql has changed; the naive variant has to follow")
    statements[name] = statements[name].replace(old, new)
