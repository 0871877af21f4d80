"""The same render from elsewhere: lines that can be pasted as they are."""

import re
import shlex
from typing import Any, NamedTuple
from urllib.parse import urlencode

import msgspec

from pressroom.renderers.documents import RenderRequest

_PAGES = ("markdown", "html", "jinja", "svg")  # not diagrams: no Markdown renderer draws them from a fence
_PICTURES = {"svg": "image/svg+xml", "png": "image/png"}


class Snippet(NamedTuple):
    id: str
    title: str
    text: str


def snippets(
    render_request: RenderRequest, base_url: str, *, picture: str | None = None, alt: str = "", needs_token: bool = False
) -> list[Snippet]:
    """`picture` is where the picture lies, if it has an address."""
    found = [Snippet("markdown-image", "Markdown image", _markdown_image(picture, alt))] if picture else []
    if render_request.language not in _PAGES:
        found.append(Snippet("markdown-fence", "Markdown fence", _markdown_fence(render_request)))
    return [
        *found,
        Snippet("curl", "curl", _curl_command(render_request, base_url, needs_token=needs_token)),
        Snippet("python", "Python", _python_code(render_request, base_url)),
    ]


def _markdown_image(picture: str, alt: str) -> str:
    words = re.sub(r"([\\\[\]])", r"\\\1", " ".join(alt.split()))
    return f"![{words}]({picture})"


def _markdown_fence(render_request: RenderRequest) -> str:
    text = render_request.source.decode()
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{render_request.language}\n{text.rstrip()}\n{fence}"


def _curl_command(render_request: RenderRequest, base_url: str, *, needs_token: bool) -> str:
    """What is simple goes into the address, so that the source stays readable. The answer is the picture, or where it lies."""
    text = render_request.source.decode()
    token = ' -H "Authorization: Bearer $PRESSROOM_TOKEN"' if needs_token else ""
    wanted = _PICTURES.get(render_request.output)
    way = f"-fsSL -H 'Accept: {wanted}' -o diagram.{render_request.output}" if wanted else "-fsS"
    if all(isinstance(value, str | int | float) for value in render_request.options.values()):
        query = {"format": render_request.language, "outputType": render_request.output, "mode": "sync"} | _query_options(
            render_request
        )
        address = shlex.quote(f"{base_url}/render?{urlencode(query)}")
        return f"curl {way}{token} --data-binary @- {address} {_shell_heredoc(text)}"
    body = {
        "source": text,
        "format": render_request.language,
        "outputType": render_request.output,
        "options": render_request.options,
    }
    packed = msgspec.json.encode(body | ({"engine": render_request.engine} if render_request.engine else {})).decode()
    address = shlex.quote(f"{base_url}/render?mode=sync")
    return f"curl {way}{token} -H 'Content-Type: application/json' --data-binary @- {address} {_shell_heredoc(packed)}"


def _query_options(render_request: RenderRequest) -> dict[str, str]:
    options = {
        name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in render_request.options.items()
    }
    return options | ({"engine": render_request.engine} if render_request.engine else {})


def _shell_heredoc(text: str) -> str:
    end = "EOF"
    while end in text.split("\n"):
        end += "F"
    return f"<<'{end}'\n{text.removesuffix('\n')}\n{end}"


def _python_code(render_request: RenderRequest, base_url: str) -> str:
    arguments: dict[str, Any] = {"options": dict(render_request.options)} if render_request.options else {}
    if render_request.engine:
        arguments["engine"] = render_request.engine
    more = "".join(f", {name}={value!r}" for name, value in arguments.items())
    return (
        "from pressroom.client import Client\n\n"
        f"source = {_python_literal(render_request.source.decode())}\n"
        f"with Client({base_url!r}) as client:\n"
        f"    made = client.render({render_request.language!r}, source, {render_request.output!r}{more}).result(timeout=30)\n"
    )


def _python_literal(text: str) -> str:
    """A text as Python reads it, in lines as it was written where that is possible."""
    if not text.isprintable() and not text.replace("\n", "").replace("\t", "").isprintable():
        return repr(text)
    escaped = text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    if escaped.endswith('"'):
        escaped = f'{escaped[:-1]}\\"'
    return f'"""\\\n{escaped}"""'
