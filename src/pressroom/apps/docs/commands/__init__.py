"""`pressroom docs`: organisations, projects, builds and editions from the command line."""

from pressroom.app import AddCommand


def add_commands(add: AddCommand) -> None:
    from pressroom.apps.docs.commands import (
        builds,
        credentials,
        edge,
        editions,
        importing,
        maintenance,
        orgs,
        projects,
        templates,
        upload,
    )

    for module in (orgs, projects, upload, importing, builds, editions, edge, templates, maintenance, credentials):
        module.add_commands(add)
