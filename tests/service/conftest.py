"""No callback of the event loop may hold it in these tests: see tests/loop_guard.py."""

from tests.loop_guard import _no_callback_holds_the_loop

__all__ = ["_no_callback_holds_the_loop"]
