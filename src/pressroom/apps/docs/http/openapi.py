"""What the descriptions of the routes have in common."""

from typing import Any

from pressroom.api.schema import json_response, responses
from pressroom.apps.docs.http.replies import COLLECTION_HEADERS, AcceptedJob

AT = "2026-01-01T00:00:00Z"
JOB_ID = "01KAD3VAQ0Y3JZ6B8N5W1T7XHE"
API = "https://pressroom.example.org"
QUEUE_URL = f"{API}/queue/jobs/{JOB_ID}"
ORG_URL = f"{API}/orgs/acme"
PROJECT_URL = f"{ORG_URL}/projects/guide"
ACCEPTED_JOB = {"id": JOB_ID, "kind": "edition_update", "queue_url": QUEUE_URL}

DELETED: dict[int | str, Any] = {204: {"description": "It is deleted"}}
NOT_CHANGED: dict[int | str, Any] = {304: {"description": "Nothing changed"}}


def operation(answers: dict[int | str, Any], *problems: int, **openapi: Any) -> dict[str, Any]:
    """401, 403 and 404 may be the answer to any of them."""
    return {"responses": responses(answers, 401, 403, 404, *problems), "openapi": openapi}


def one(kind: Any, description: str, example: Any) -> dict[int | str, Any]:
    return {200: json_response(kind, description, example=example)}


def collection_of(kind: Any, description: str, example: Any) -> dict[int | str, Any]:
    answer = json_response(list[kind], description, headers=COLLECTION_HEADERS, example=[example])
    return {200: answer}


def created_one(kind: Any, description: str, example: Any) -> dict[int | str, Any]:
    return {201: json_response(kind, description, headers={"Location": "Where it is"}, example=example)}


def accepted_one(kind: Any, description: str, example: Any) -> dict[int | str, Any]:
    headers = {"Location": "The job", "Retry-After": "When to look again, in seconds"}
    return {202: json_response(kind, description, headers=headers, example=example)}


ACCEPTED = accepted_one(AcceptedJob, "The job that does it", ACCEPTED_JOB)
