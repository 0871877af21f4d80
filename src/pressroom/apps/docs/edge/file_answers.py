"""A file of a site as an answer: whole or a range of it, compressed where that may be, or 304."""

from pressroom.api.byte_ranges import requested_range
from pressroom.api.replies import matches
from pressroom.apps.docs.edge.answers import EdgeAnswer, RequestHeaders, encode_headers, tag_of, whole
from pressroom.apps.docs.edge.contents import MAX_COMPRESSED, MIN_COMPRESSED, SMALL, Contents
from pressroom.apps.docs.edge.media import accepted_encodings, is_compressible
from pressroom.apps.docs.edge.site_request import FOR_A_MINUTE, SiteRequest
from pressroom.apps.docs.edge.sites import FoundFile, ServedFile
from pressroom.errors import NotFound, Unavailable


class FileAnswers:
    def __init__(self, contents: Contents) -> None:
        self._contents = contents

    async def of_file(
        self, request: SiteRequest, found: FoundFile, file: ServedFile, media_type: str, headers: dict[str, str]
    ) -> EdgeAnswer:
        """Raises Unavailable if the artifact store lacks its bytes, and HttpError 416."""
        may_compress = is_compressible(media_type)
        headers = {"Content-Type": media_type, **headers, **request.vary(*(["Accept-Encoding"] if may_compress else []))}
        try:
            if may_compress and request.headers.range is None and request.headers.if_none_match != "*":
                answer = await self._compressed(request.headers, found, file, headers)
                if answer is not None:
                    return answer
            return await self._plain(request, file, headers)
        except NotFound:
            raise Unavailable(f"the artifact store has no bytes under {file.key}") from None

    async def _plain(self, request: SiteRequest, file: ServedFile, headers: dict[str, str]) -> EdgeAnswer:
        """The file as it is, or the range of it that was asked for."""
        asked, tag = request.headers, f'"{file.sha256}"'
        headers["ETag"] = tag
        if matches(asked.if_none_match, tag):
            return EdgeAnswer(304, encode_headers(headers))
        headers["Accept-Ranges"] = "bytes"
        start, stop = requested_range(asked.range, asked.if_range, file.size, tag) if asked.range else (0, file.size)
        status = 200
        if (start, stop) != (0, file.size):
            status = 206
            headers["Content-Range"] = f"bytes {start}-{stop - 1}/{file.size}"
        headers["Content-Length"] = str(stop - start)
        if file.size <= SMALL:
            data = await self._contents.read(file)
            return EdgeAnswer(status, encode_headers(headers), data if status == 200 else data[start:stop])
        if request.is_head:  # which opens no stream that is not read
            return EdgeAnswer(status, encode_headers(headers))
        return EdgeAnswer(status, encode_headers(headers), await self._contents.stream(file, start, stop))

    async def _compressed(
        self, asked: RequestHeaders, found: FoundFile, file: ServedFile, headers: dict[str, str]
    ) -> EdgeAnswer | None:
        """A copy that was uploaded beside the file, or one that is made here. None if neither is to be had."""
        accepted = accepted_encodings(asked.accept_encoding)
        uploaded = [
            (encoding, copy)
            for encoding, copy in (("br", found.brotli), ("gzip", found.gzip))
            if encoding in accepted and copy is not None and copy.size <= MAX_COMPRESSED
        ]
        copy: ServedFile | None = None
        if uploaded:
            encoding, copy = uploaded[0]
        elif "gzip" in accepted and MIN_COMPRESSED <= file.size <= MAX_COMPRESSED:
            encoding = "gzip"
        else:
            return None
        tag = f'"{(copy or file).sha256}-{encoding}"'
        if matches(asked.if_none_match, tag):
            return EdgeAnswer(304, encode_headers(headers | {"ETag": tag}))
        data = await (self._contents.compressed(file) if copy is None else self._contents.read(copy))
        return None if data is None else whole(200, data, headers | {"ETag": tag, "Content-Encoding": encoding})

    async def of_generated(self, request: SiteRequest, body: bytes, media_type: str) -> EdgeAnswer:
        """What is no file: a dashboard, a list of editions."""
        tag = tag_of(body)
        headers = {
            "Content-Type": media_type,
            "Cache-Control": request.cache_control(FOR_A_MINUTE),
            **request.vary("Accept-Encoding"),
        }
        if "gzip" in accepted_encodings(request.headers.accept_encoding):
            compressed = await self._contents.compressed_data(f"generated {tag}", body)
            if compressed is not None:
                body, tag = compressed, f'{tag[:-1]}-gzip"'
                headers["Content-Encoding"] = "gzip"
        headers["ETag"] = tag
        if matches(request.headers.if_none_match, tag):
            return EdgeAnswer(304, encode_headers(headers))
        return whole(200, body, headers)
