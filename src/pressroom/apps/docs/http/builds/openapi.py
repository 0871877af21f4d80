"""What the OpenAPI document says of builds."""

from typing import Any

from pressroom.api.schema import json_body, path, query, responses
from pressroom.apps.docs.http.builds.views import (
    AnnouncedBuildView,
    BuildChanges,
    BuildDetailView,
    BuildFileView,
    BuildView,
    ComparisonView,
)
from pressroom.apps.docs.http.openapi import (
    AT,
    NOT_CHANGED,
    PROJECT_URL,
    QUEUE_URL,
    accepted_one,
    collection_of,
    created_one,
    one,
    operation,
)
from pressroom.apps.docs.http.request_parts import (
    BUILD,
    BUILD_ID,
    IF_NONE_MATCH,
    LIMIT,
    NUMBER_CURSOR,
    ORG,
    PROJECT,
    UID_CURSOR,
)
from pressroom.apps.docs.model import BuildStatus
from pressroom.apps.docs.requests import BuildDraft
from pressroom.apps.docs.uploads.staging import CAPABILITY

STATUSES = tuple(status.value for status in BuildStatus)
UPLOADED = "uploaded"
MOST_FILES, USUAL_FILES = 10_000, 1_000
_OTHER_ID = "01KAD1F7H2N5C8X0Q4T6W9BZRM"
_HERE = f"{PROJECT_URL}/builds/{BUILD_ID}"
_DRAFT = {
    "git_ref": "v2.1.0",
    "content_hash": f"sha256:{'9f' * 32}",
    "annotations": {"commit_sha": "4b825dc642cb6eb9a060e54bf8d69288fbee4904"},
}
_BUILD: dict[str, Any] = {
    "self_url": _HERE,
    "project_url": PROJECT_URL,
    "files_url": f"{_HERE}/files",
    "problems_url": f"{_HERE}/problems",
    "queue_url": QUEUE_URL,
    "published_url": f"https://guide.docs.example.org/builds/{BUILD_ID}/",
    "id": BUILD_ID,
    "number": 41,
    "git_ref": "v2.1.0",
    "alternate_name": None,
    "content_hash": _DRAFT["content_hash"],
    "status": "completed",
    "uploader": "CI of guide (pr_4kB9xQ)",
    "annotations": _DRAFT["annotations"],
    "object_count": 1_247,
    "total_size_bytes": 48_120_334,
    "broken_links": 2,
    "error": None,
    "date_created": AT,
    "date_uploaded": AT,
    "date_completed": AT,
}
_UNFINISHED = {
    "published_url": None,
    "number": None,
    "object_count": None,
    "total_size_bytes": None,
    "broken_links": None,
    "date_completed": None,
}
_PENDING = _BUILD | _UNFINISHED | {"status": "pending", "queue_url": None, "date_uploaded": None}
_PROCESSING = _BUILD | _UNFINISHED | {"status": "processing", "number": 41}
_FILE = {"path": "index.html", "sha256": "3f" * 32, "media_type": "text/html", "size": 8_812}
_PROBLEM = {"page": "guide/index.html", "link": "../setup.html", "reason": "there is no such file in the site"}
_COMPARISON = {
    "self_url": f"{PROJECT_URL}/builds/{_OTHER_ID}/compare/{BUILD_ID}",
    "before": _OTHER_ID,
    "after": BUILD_ID,
    "added": ["guide/new.html"],
    "removed": [],
    "changed": [{"path": "index.html", "size_before": 8_602, "size_after": 8_812}],
    "same": 1_245,
}
_SIDE = "A build's id, or the slug of an edition: what it shows"

LIST_BUILDS = operation(
    collection_of(BuildView, "The builds of the project, newest first", _BUILD),
    422,
    parameters=[ORG, PROJECT, query("status", {"enum": [*STATUSES]}, "Only these"), LIMIT, UID_CURSOR],
)
_SAME = one(AnnouncedBuildView, "A build with the same content", _BUILD | {"upload_url": None})
ANNOUNCE_BUILD = operation(
    _SAME
    | created_one(
        AnnouncedBuildView,
        "The build, which waits for its archive",
        _PENDING | {"upload_url": f"https://pressroom.example.org/uploads/{BUILD_ID}?{CAPABILITY}=…"},
    ),
    422,
    **json_body(BuildDraft, "What was built, and the hash of the archive", example=_DRAFT),
    parameters=[ORG, PROJECT],
)
GET_BUILD = operation(
    one(BuildDetailView, "The build", _BUILD | {"editions": ["__main", "2", "2.1"]}) | NOT_CHANGED,
    parameters=[ORG, PROJECT, BUILD, IF_NONE_MATCH],
)
START_BUILD = operation(
    accepted_one(BuildView, "The build, which is processed now", _PROCESSING),
    *(409, 413, 422),
    **json_body(BuildChanges, "That its archive is there", example={"status": UPLOADED}),
    parameters=[ORG, PROJECT, BUILD],
)
DELETE_BUILD = operation(
    {204: {"description": "It is deleted, and can be restored from purgatory"}}, 409, parameters=[ORG, PROJECT, BUILD]
)
LIST_FILES = operation(
    collection_of(BuildFileView, "The files of the build, by path; none before it was unpacked", _FILE),
    422,
    parameters=[
        ORG,
        PROJECT,
        BUILD,
        query("limit", {"type": "integer", "minimum": 1, "maximum": MOST_FILES, "default": USUAL_FILES}, "How many"),
        NUMBER_CURSOR,
    ],
)
LIST_PROBLEMS = operation(
    collection_of(dict[str, Any], "The broken links of the build, the first ones", _PROBLEM), parameters=[ORG, PROJECT, BUILD]
)
COMPARE = operation(
    one(ComparisonView, "Which files differ", _COMPARISON) | NOT_CHANGED,
    409,
    parameters=[
        ORG,
        PROJECT,
        path("build", _OTHER_ID, _SIDE),
        path("other", BUILD_ID, f"{_SIDE}. It is compared with the first"),
        IF_NONE_MATCH,
    ],
)
PUT_ARCHIVE: dict[str, Any] = {
    "responses": responses({204: {"description": "It is kept until it is processed"}}, 404, 413, 503),
    "openapi": {
        "requestBody": {
            "required": True,
            "description": "A tar archive, compressed by gzip: the files of the site",
            "content": {"application/gzip": {"schema": {"type": "string", "format": "binary"}, "example": "…"}},
        },
        "parameters": [
            BUILD,
            query(CAPABILITY, {"type": "string", "minLength": 1}, "As `upload_url` has it") | {"required": True},
        ],
    },
}
