"""The apps that Pressroom comes with."""

from pressroom.store.schema import CORE, Schema, SqlPackage

BUILT_IN = ("diagrams", "wiki")
BUILT_IN_SCHEMA: Schema = (CORE, *(SqlPackage(name, f"pressroom.apps.{name}") for name in BUILT_IN))
