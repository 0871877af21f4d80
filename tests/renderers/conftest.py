"""Fixtures of the engines' tests."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from pressroom.renderers.browser import browser
from pressroom.renderers.browser.mermaid import MermaidBrowser
from pressroom.renderers.browser.pdf import HtmlBrowser


@pytest.fixture(autouse=True, scope="module")
def _patient_browsers() -> Iterator[None]:
    """A browser of this process has the time that a busy machine needs. Tests of limits set their own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(browser, "START_TIMEOUT", 300.0)
        patch.setattr(browser, "ANSWER_TIMEOUT", 120.0)
        for engine in (HtmlBrowser, MermaidBrowser):
            patch.setattr(engine, "limits", replace(engine.limits, seconds=600.0))
        yield
