"""The checks of this folder catch what they are for: engines that leak, fetch or let a script through."""

import pytest

from pressroom.errors import SourceInvalid
from tests.security import exposed
from tests.security.markup import offences_in_html, offences_in_svg
from tests.security.render_box import Box, Canary, traces
from tests.security.test_render_files import HTML, page_of


@pytest.mark.parametrize("output", ["pdf", "png"])
@pytest.mark.parametrize("attack", ["F1-img", "F1-link"])
def test_an_engine_that_fetches_files_is_caught(box: Box, canary: Canary, attack: str, output: str) -> None:
    answer = box.draw(exposed.Credulous, canary.fill(page_of(HTML[attack])), output)

    assert traces(canary, answer)


def test_an_engine_that_tells_a_file_in_its_error_is_caught(box: Box, canary: Canary) -> None:
    answer = box.draw(exposed.Talkative, canary.fill("TXT"))

    assert isinstance(answer.error, SourceInvalid)
    assert traces(canary, answer)


@pytest.mark.parametrize("source", ["<script>1</script>", "<img src=x onerror=1>", "[x](javascript:1)", "<svg onload=1>"])
def test_markdown_that_is_not_sanitised_is_caught(box: Box, source: str) -> None:
    assert offences_in_html(box.draw(exposed.Unwashed, source).text)
    assert not offences_in_html(box.draw(exposed.engine("markdown"), source).text)


@pytest.mark.parametrize(
    "inside",
    [
        "<script>1</script>",
        "<g onclick='1'/>",
        "<a href='java\tscript:1'/>",
        "<set attributeName='href' to='javascript:1'/>",
        "<style>@import 'http://example.org/'</style>",
        "<rect style='fill: url(http://example.org/)'/>",
        "<image href='http://example.org/x.png'/>",
        "<use href='data:image/svg+xml,x'/>",
        "<foreignObject><iframe xmlns='http://www.w3.org/1999/xhtml'/></foreignObject>",
    ],
)
def test_an_svg_that_is_not_clean_is_caught(inside: str) -> None:
    assert offences_in_svg(f"<svg xmlns='http://www.w3.org/2000/svg'>{inside}</svg>".encode())
