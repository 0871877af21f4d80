"""A picture of a page. Its size is known, and refused if need be, before a single pixel is drawn."""

import math

from pressroom.errors import TooLarge
from pressroom.renderers import Limits
from pressroom.renderers.browser.page import BrowserPage

NOTHING = {"r": 0, "g": 0, "b": 0, "a": 0}


def set_viewport(page: BrowserPage, limits: Limits, width: float, height: float, scale: float) -> None:
    _refuse_if_too_large(limits, width * scale, height * scale)
    size = {"width": math.ceil(width), "height": math.ceil(height)}
    page.call("Emulation.setDeviceMetricsOverride", **size, deviceScaleFactor=scale, mobile=False)


def content_size(page: BrowserPage, width: float) -> tuple[float, float]:
    """How large the whole document is, in a window of that width."""
    content = page.call("Page.getLayoutMetrics")["cssContentSize"]
    return max(width, content["width"]), max(1, content["height"])


def take_screenshot(
    page: BrowserPage, limits: Limits, width: float, height: float, scale: float, *, white: bool = False
) -> bytes:
    """On white, or on nothing at all. The window may be smaller than the picture: what is as high as the window stays so."""
    _refuse_if_too_large(limits, width * scale, height * scale)
    if not white:
        page.call("Emulation.setDefaultBackgroundColorOverride", color=NOTHING)
    clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}
    shot = page.call("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)
    return page.decode_base64(shot["data"], limits.output)


def _refuse_if_too_large(limits: Limits, width: float, height: float) -> None:
    if max(width, height) > limits.side or width * height > limits.pixels:
        raise TooLarge(
            f"the picture would be {width:,.0f} x {height:,.0f} pixels; "
            f"the limits are {limits.side:,} to a side and {limits.pixels:,} in all"
        )
