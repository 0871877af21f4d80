"""What is read of a template's repository: files of strangers, read in the worker."""

import pytest

from pressroom.apps.docs.errors import TemplateFailed
from pressroom.apps.docs.git.template_files import read_template

PAGE = b"<h1>{{ project.title }}</h1>"


@pytest.mark.parametrize(
    "config",
    [
        pytest.param("a." * 3_000 + "b = 1", id="a key with thousands of parts"),
        pytest.param('x = """\u2028"""\n"\u2028"' + '."\u2028"' * 3_000 + " = 1", id="parts with another line end"),
        pytest.param("# " + "x" * 70_000, id="a large file"),
    ],
)
def test_a_config_that_would_take_all_memory_is_not_parsed(config: str) -> None:
    """D28: a key of 20,000 parts took tomllib 16 s and 1.5 GB, in the worker itself."""
    with pytest.raises(TemplateFailed, match=r"template.toml: it is larger than 64 KB, or a line has more than 100 dots"):
        read_template({"template.toml": config.encode(), "page.html": PAGE})


@pytest.mark.parametrize("section", ["css", "js", "assets.css"])
def test_a_file_that_is_named_many_times_is_too_large_before_it_is_joined(section: str) -> None:
    config = f'dashboard.template = "page.html"\ndashboard.{section} = [{'"a.css",\n' * 3_000}]'

    with pytest.raises(TemplateFailed, match="more than 5 MB"):
        read_template({"template.toml": config.encode(), "page.html": PAGE, "a.css": b"a" * 2_000})


def test_styles_are_joined_in_their_order() -> None:
    config = b'[dashboard]\ntemplate = "page.html"\ncss = ["b.css", "./a.css"]\nassets = { css = "b.css" }'

    template = read_template({"template.toml": config, "page.html": PAGE, "a.css": b"a", "b.css": b"b"})

    assert template.dashboard.assets.css == "b\na\nb"
