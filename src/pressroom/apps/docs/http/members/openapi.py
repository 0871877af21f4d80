"""What the OpenAPI document says of members."""

from pressroom.api.schema import json_body, path
from pressroom.apps.docs.http.members.views import CreatedMemberView, MemberDraft, MemberView
from pressroom.apps.docs.http.openapi import AT, DELETED, NOT_CHANGED, ORG_URL, collection_of, created_one, one, operation
from pressroom.apps.docs.http.request_parts import IF_NONE_MATCH, LIMIT, ORG, UID_CURSOR

_ID = "01KAD3TQ4M9S6R2V8N1B5C7XZE"
_MEMBER = {
    "self_url": f"{ORG_URL}/members/{_ID}",
    "org_url": ORG_URL,
    "id": _ID,
    "name": "CI of guide",
    "prefix": "pr_4kB9xQ",
    "role": "uploader",
    "date_created": AT,
    "date_expires": None,
    "date_used": None,
}
_CREATED = _MEMBER | {"token": "pr_…"}
_MEMBER_ID = path("member", _ID, "The token's id")

LIST_MEMBERS = operation(
    collection_of(MemberView, "The valid tokens of the organisation, newest first", _MEMBER),
    422,
    parameters=[ORG, LIMIT, UID_CURSOR],
)
CREATE_MEMBER = operation(
    created_one(CreatedMemberView, "The token, which is shown this once", _CREATED),
    422,
    **json_body(MemberDraft, "The token", example={"role": "uploader", "name": "CI of guide", "expires_in_days": 90}),
    parameters=[ORG],
)
GET_MEMBER = operation(one(MemberView, "The token", _MEMBER) | NOT_CHANGED, parameters=[ORG, _MEMBER_ID, IF_NONE_MATCH])
DELETE_MEMBER = operation(DELETED, parameters=[ORG, _MEMBER_ID])
