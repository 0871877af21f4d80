"""What the OpenAPI document shows. A test holds every one of them against its schema."""

from typing import Any

JOB_ID = "job_01KA4ZC5Q6T9E0V8W2M7N3P1RS"
ARTIFACT_ID = "01KA4ZC5R0H3JX5D7B9F1G6K8M"
LINK = "7f3k9m2q8w4xz"
WEBHOOK_ID = "wh_01KA4ZC5S2V4N6P8Q0R1T3W5X7"
DELIVERY_ID = "msg_01KA4ZC5T9A1B2C3D4E5F6G7H8"

SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="62pt" height="44pt">…</svg>'

ACCEPTED: dict[str, Any] = {
    "id": JOB_ID,
    "kind": "render",
    "answer": "new",
    "version": 1,
    "status_url": f"/jobs/{JOB_ID}",
    "differs": None,
}

JOB: dict[str, Any] = {
    "id": JOB_ID,
    "kind": "render",
    "status": "completed",
    "tier": "interactive",
    "phase": None,
    "progress": None,
    "subject": None,
    "key": None,
    "attempts": 0,
    "max_attempts": 5,
    "errors": [],
    "last_error": None,
    "result": {"artifact": ARTIFACT_ID, "short_link": LINK},
    "position": None,
    "estimate": None,
    "parent": None,
    "retry_of": None,
    "superseded_by": None,
    "cancel_requested": False,
    "date_created": "2026-01-01T00:00:00Z",
    "date_started": "2026-01-01T00:00:00.004Z",
    "date_completed": "2026-01-01T00:00:00.031Z",
    "run_at": "2026-01-01T00:00:00Z",
    "links": {
        "self": f"/jobs/{JOB_ID}",
        "events": f"/jobs/{JOB_ID}/events",
        "result": f"/jobs/{JOB_ID}/result",
        "cancel": f"/jobs/{JOB_ID}/cancel",
        "retry": f"/jobs/{JOB_ID}/retry",
    },
}

QUEUED_JOB: dict[str, Any] = JOB | {
    "status": "queued",
    "result": None,
    "position": 3,
    "estimate": {"p50": 0.4, "p90": 1.1},
    "date_started": None,
    "date_completed": None,
}

CANCELLED_JOB: dict[str, Any] = QUEUED_JOB | {
    "status": "cancelled",
    "last_error": "cancelled by local",
    "position": None,
    "estimate": None,
    "date_completed": "2026-01-01T00:00:09Z",
}

STOPPING_JOB: dict[str, Any] = JOB | {"status": "in_progress", "result": None, "cancel_requested": True, "date_completed": None}

EVENT: dict[str, Any] = {
    "id": "42",
    "event": "completed",
    "data": f'{{"job":"{JOB_ID}","type":"completed","at":"2026-01-01T00:00:00.031Z","data":{{}}}}',
}

WEBHOOK: dict[str, Any] = {
    "id": WEBHOOK_ID,
    "url": "https://example.org/hooks/pressroom",
    "events": ["job.completed", "job.failed"],
    "kinds": ["render"],
    "disabled_because": None,
    "date_created": "2026-01-01T00:00:00Z",
}

ALERT: dict[str, Any] = {
    "id": 17,
    "org_id": None,
    "kind": "pack.render",
    "subject": "offer of Anna Example",
    "code": "render_http_422",
    "message": "the render service refused the document: line 12 is not closed",
    "count": 3,
    "job_id": JOB_ID,
    "first_at": "2026-01-01T00:00:00Z",
    "last_at": "2026-01-01T00:10:00Z",
    "acked_by": None,
    "acked_at": None,
}

ACKED_ALERT: dict[str, Any] = ALERT | {"acked_by": "ann", "acked_at": "2026-01-01T00:12:00Z"}

SIGNING = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

DELIVERY: dict[str, Any] = {
    "id": DELIVERY_ID,
    "webhook": WEBHOOK_ID,
    "type": "job.completed",
    "job_id": JOB_ID,
    "state": "delivered",
    "attempts": 1,
    "status": 204,
    "response": "",
    "error": None,
    "delivered_by": "job_01KA4ZC5V7Y6Z5X4W3V2T1S0R9",
    "next_attempt": None,
    "date_created": "2026-01-01T00:00:00.031Z",
    "date_attempted": "2026-01-01T00:00:00.120Z",
    "date_ended": "2026-01-01T00:00:00.120Z",
}

WAITING_DELIVERY: dict[str, Any] = DELIVERY | {
    "state": "waiting",
    "attempts": 0,
    "status": None,
    "response": None,
    "next_attempt": "2026-01-01T00:00:00.031Z",
    "date_attempted": None,
    "date_ended": None,
}

BACKLOG: dict[str, Any] = {
    "at": "2026-01-01T00:10:00Z",
    "items": [
        {
            "kind": "render",
            "tier": "interactive",
            "queued": 3,
            "ready": 2,
            "oldest": "2026-01-01T00:09:56Z",
            "age": 4.0,
            "ready_since": "2026-01-01T00:09:56Z",
        }
    ],
    "queued": 3,
    "capped": False,
    "paused": [],
}

ACTIVE: dict[str, Any] = {
    "id": JOB_ID,
    "kind": "build_processing",
    "tier": "background",
    "org_id": "acme",
    "project_id": "handbook",
    "subject": "handbook, build 42",
    "key": None,
    "worker": "press-1.4711.3X5Z7Q",
    "attempt": 1,
    "cancel_requested": False,
    "date_started": "2026-01-01T00:09:00Z",
    "seconds": 60.0,
    "phase": "editions",
    "message": None,
    "done": None,
    "total": None,
    "items": {
        "noun": "editions",
        "total": 3,
        "completed": 1,
        "failed": 1,
        "in_progress": 1,
        "names": ["main"],
        "failures": [{"slug": "draft", "error": "not approved"}],
    },
}

ACTIVE_LIST: dict[str, Any] = {"at": "2026-01-01T00:10:00Z", "items": [ACTIVE], "next_cursor": None}

CONFLICTS: dict[str, Any] = ACTIVE_LIST | {
    "conflicts": [
        {
            "noun": "editions",
            "item": "main",
            "org_id": "acme",
            "jobs": [
                {"id": JOB_ID, "state": "in_progress"},
                {"id": "job_01KA4ZC5V7Y6Z5X4W3V2T1S0R9", "state": "in_progress"},
            ],
        }
    ],
    "capped": False,
}

ENDINGS: dict[str, Any] = {"ended": 42, "completed": 37, "completed_with_errors": 1, "failed": 2, "cancelled": 2}

ERROR_RATE: dict[str, Any] = {
    "at": "2026-01-01T01:00:00Z",
    "since": "2026-01-01T00:00:00Z",
    "capped": False,
    "ended": 42,
    "errors": 3,
    "rate": 0.075,
    "items": [ENDINGS | {"kind": "render", "errors": 3, "rate": 0.075}],
}

THROUGHPUT: dict[str, Any] = {
    "at": "2026-01-01T01:00:00Z",
    "since": "2026-01-01T00:00:00Z",
    "capped": False,
    "orgs": 1,
    "items": [ENDINGS | {"org_id": "acme", "per_minute": 0.617}],
}
