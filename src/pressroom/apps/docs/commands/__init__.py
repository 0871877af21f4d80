"""`pressroom docs`: organisations, projects, builds and editions from the command line."""

from pressroom.app import AddCommand
from pressroom.apps.docs.commands import edge


def add_commands(add: AddCommand) -> None:
    edge.add_commands(add)
