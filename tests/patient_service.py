"""A service that imports this (PRESSROOM_IMPORTS) waits as long as the tests do."""

from tests.patience import limits

for module, name, value in limits():
    setattr(module, name, value)
