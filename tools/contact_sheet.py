"""Every engine and every output on one sheet, light and dark, to be looked at: `./dev screenshots engines`.

Renders examples/sources through real presses and lays the results out on a page, which our own browser engine pictures.
What an engine cannot make here is on the sheet as well, with the reason.
"""

import argparse
import asyncio
import base64
import html
import io
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pypdfium2

from pressroom.cli.render import ENDINGS
from pressroom.errors import PressroomError
from pressroom.renderers import Engine, Rendered, catalogue, documents
from pressroom.renderers.documents import RenderRequest
from pressroom.renderers.sandbox.engine_pools import EnginePools

SOURCES = Path(__file__).parents[1] / "examples" / "sources"

STYLE = """
body { margin: 16px; font: 13px/1.4 "Liberation Sans", sans-serif; background: %(paper)s; color: %(ink)s; }
h2 { font-size: 15px; margin: 18px 0 6px; }
.row { display: flex; gap: 12px; align-items: flex-start; }
figure { margin: 0; border: 1px solid #8888; padding: 6px; width: %(width)dpx; }
figure img { max-width: 100%%; max-height: 420px; height: auto; display: block; margin: 0 auto; }
figcaption { color: #888; margin-bottom: 4px; }
.failed { color: #c0392b; }
"""
COLOURS = {"light": {"paper": "#ffffff", "ink": "#1c2024"}, "dark": {"paper": "#14171a", "ink": "#e6e9ed"}}


class Sample(NamedTuple):
    file: Path
    engine: type[Engine]
    outputs: tuple[str, ...]


def samples() -> Iterator[Sample]:
    for file in sorted(SOURCES.iterdir()):
        ending = max((end for end in ENDINGS if file.name.endswith(end)), key=len)
        language = catalogue.ALIASES.get(ENDINGS[ending], ENDINGS[ending])
        for engine in catalogue.engines():
            if engine.takes == language:
                yield Sample(file, engine, ("html", "pdf") if language in documents.PAGE_MAKERS else engine.makes)


async def sheet(presses: EnginePools, theme: str, chosen: list[Sample]) -> bytes:
    rows = [await row(presses, sample, theme) for sample in chosen]
    style = STYLE % (COLOURS[theme] | {"width": 430})
    page = f"<!DOCTYPE html><html lang='en'><title>Engines, {theme}</title><style>{style}</style>{''.join(rows)}</html>"
    asked = RenderRequest("html", "png", page.encode(), {"width": "1400px"}, "html-browser")
    return (await documents.render(presses, documents.make_plan(asked))).data


async def row(presses: EnginePools, sample: Sample, theme: str) -> str:
    figures = [await figure(presses, sample, output, theme) for output in sample.outputs]
    heading = f"{sample.engine.name}: {sample.file.name}"
    return f"<h2>{html.escape(heading)}</h2><div class='row'>{''.join(figures)}</div>"


async def figure(presses: EnginePools, sample: Sample, output: str, theme: str) -> str:
    markdown = sample.engine.takes == "markdown"
    page_maker = sample.engine.takes in documents.PAGE_MAKERS
    options = {"theme": theme} if markdown or "theme" in sample.engine.Options.__struct_fields__ else {}
    if markdown and output == "html":
        options["page"] = True
    asked = RenderRequest(
        sample.engine.takes, output, sample.file.read_bytes(), options, None if page_maker else sample.engine.name
    )
    try:
        picture = await as_picture(presses, await documents.render(presses, documents.make_plan(asked)), output)
    except PressroomError as error:
        return f"<figure><figcaption>{output}</figcaption><p class='failed'>{html.escape(str(error))}</p></figure>"
    return f"<figure><figcaption>{output}</figcaption><img alt='' src='{picture}'></figure>"


async def as_picture(presses: EnginePools, rendered: Rendered, output: str) -> str:
    match output:
        case "pdf":
            stream = io.BytesIO()
            pypdfium2.PdfDocument(rendered.data)[0].render(scale=1.3).to_pil().save(stream, "PNG")
            return carried("image/png", stream.getvalue())
        case "html":
            asked = RenderRequest("html", "png", rendered.data, {"width": "800px"}, "html-browser")
            return carried("image/png", (await documents.render(presses, documents.make_plan(asked))).data)
        case _:
            return carried(rendered.media_type, rendered.data)


def carried(media_type: str, data: bytes) -> str:
    return f"data:{media_type};base64,{base64.b64encode(data).decode()}"


async def make(folder: Path, only: str | None) -> list[Path]:
    chosen = [sample for sample in samples() if only is None or only in sample.engine.name]
    made = []
    presses = EnginePools(1)
    try:
        for theme in COLOURS:
            for part in range(0, len(chosen), 8):
                path = folder / f"engines-{theme}-{part // 8 + 1}.png"
                path.write_bytes(await sheet(presses, theme, chosen[part : part + 8]))
                made.append(path)
    finally:
        await presses.close()
    return made


def main() -> None:
    parser = argparse.ArgumentParser(prog="./dev screenshots", description=__doc__)
    parser.add_argument("what", choices=["engines"])
    parser.add_argument("--out", type=Path, default=Path(".cache/screenshots"))
    parser.add_argument("--only", help="engines with this in their name")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    for path in asyncio.run(make(args.out, args.only)):
        print(path)


if __name__ == "__main__":
    main()
