"""What the OpenAPI document says of credentials and services."""

from typing import Any

from pressroom.api.schema import json_body, path
from pressroom.apps.docs.credentials.model import CredentialDraft, NewSecret, ServiceChanges, ServiceDraft
from pressroom.apps.docs.http.credentials.views import CredentialView, ServiceView
from pressroom.apps.docs.http.openapi import AT, DELETED, NOT_CHANGED, ORG_URL, collection_of, created_one, one, operation
from pressroom.apps.docs.http.request_parts import IF_NONE_MATCH, ORG

_LABEL = path("label", "our-bucket", "Its label")
_CREDENTIAL: dict[str, Any] = {
    "self_url": f"{ORG_URL}/credentials/our-bucket",
    "org_url": ORG_URL,
    "label": "our-bucket",
    "provider": "s3",
    "key_version": 1,
    "date_created": AT,
    "date_updated": AT,
}
_CONFIG = {"endpoint": "https://s3.example.org", "bucket": "sites", "region": "us-east-1", "prefix": ""}
_SERVICE: dict[str, Any] = {
    "self_url": f"{ORG_URL}/services/sites",
    "org_url": ORG_URL,
    "credential_url": f"{ORG_URL}/credentials/our-bucket",
    "label": "sites",
    "category": "object_storage",
    "provider": "minio",
    "config": _CONFIG,
    "credential_label": "our-bucket",
    "date_created": AT,
    "date_updated": AT,
}
_SECRET = {"access_key_id": "an-access-key", "secret_access_key": "a-secret-key"}
_CREDENTIAL_DRAFT = {"label": "our-bucket", "provider": "s3", "credentials": _SECRET}
_SERVICE_DRAFT = {
    "label": "sites",
    "provider": "minio",
    "config": {"endpoint": "https://s3.example.org", "bucket": "sites"},
    "credential_label": "our-bucket",
}

LIST_CREDENTIALS = operation(collection_of(CredentialView, "The credentials, by label", _CREDENTIAL), parameters=[ORG])
CREATE_CREDENTIAL = operation(
    created_one(CredentialView, "The credential, without its secret", _CREDENTIAL),
    *(409, 422, 503),
    **json_body(CredentialDraft, "The secret, which is never shown again", example=_CREDENTIAL_DRAFT),
    parameters=[ORG],
)
GET_CREDENTIAL = operation(
    one(CredentialView, "The credential, without its secret", _CREDENTIAL) | NOT_CHANGED,
    parameters=[ORG, _LABEL, IF_NONE_MATCH],
)
REPLACE_CREDENTIAL = operation(
    one(CredentialView, "The credential, without its secret", _CREDENTIAL),
    *(422, 503),
    **json_body(NewSecret, "Another secret of the same provider", example={"credentials": _SECRET}),
    parameters=[ORG, _LABEL],
)
DELETE_CREDENTIAL = operation(DELETED, 409, parameters=[ORG, _LABEL])
LIST_SERVICES = operation(collection_of(ServiceView, "The services, by label", _SERVICE), parameters=[ORG])
CREATE_SERVICE = operation(
    created_one(ServiceView, "The service", _SERVICE),
    *(409, 422),
    **json_body(ServiceDraft, "The service", example=_SERVICE_DRAFT),
    parameters=[ORG],
)
GET_SERVICE = operation(one(ServiceView, "The service", _SERVICE) | NOT_CHANGED, parameters=[ORG, _LABEL, IF_NONE_MATCH])
CHANGE_SERVICE = operation(
    one(ServiceView, "The service as it is now", _SERVICE),
    *(409, 422),
    **json_body(ServiceChanges, "What changes; the rest stays", example={"config": _CONFIG}),
    parameters=[ORG, _LABEL],
)
DELETE_SERVICE = operation(DELETED, 409, parameters=[ORG, _LABEL])
