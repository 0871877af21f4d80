"""What may be asked of the engine `pdf`."""

from typing import Annotated

import msgspec

from pressroom.renderers.pdf.container import MAX_PARTS

type Title = Annotated[str, msgspec.Meta(max_length=1_000)]
type Stamp = Annotated[str, msgspec.Meta(max_length=200)]
type Word = Annotated[str, msgspec.Meta(max_length=100)]


class DocumentEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is said of one part. `state` is a word of the caller, such as draft or final."""

    title: Title = ""
    state: Word = ""


class PdfOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Of pdf: `documents` to `lang`. Of png: `page`, `width`, `overlay`. Of json: `text`, `compare`."""

    documents: Annotated[list[DocumentEntry], msgspec.Meta(max_length=MAX_PARTS)] = []
    contents: bool = False
    contents_title: Title = "Contents"
    page_numbers: bool = False
    stamp: Stamp = ""  # over every page
    stamps: Annotated[dict[Word, Stamp], msgspec.Meta(max_length=100)] = {}  # by state, for documents in that state
    stamp_behind: bool = False
    title: Title = ""
    lang: Annotated[str, msgspec.Meta(pattern=r"^([A-Za-z]{2,8}(-[A-Za-z0-9]{1,8}){0,8})?$")] = ""
    page: Annotated[int, msgspec.Meta(ge=1)] = 1
    width: Annotated[int, msgspec.Meta(ge=1, le=16_384)] | None = None
    overlay: bool = False
    text: bool = False
    compare: bool = False
