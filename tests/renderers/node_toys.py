"""An engine that a press can load: it imports nothing of the tests."""

from dataclasses import replace

from pressroom.renderers.node.engines import Bytefield


class Hurried(Bytefield):
    name = "hurried"
    limits = replace(Bytefield.limits, seconds=1.5)
