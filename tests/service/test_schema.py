"""The OpenAPI document is the service: whatever it allows is answered as it says, and whatever it forbids is refused.

Schemathesis makes the requests. They go over real connections to a real server, with tokens of two organisations in turn.
"""

import copy
import json
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import httpx
import jsonschema_rs
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.core.parameters import ParameterLocation

from pressroom.api.routing import RouteTable
from pressroom.apps.packs.openapi import PACK as EXAMPLE_PACK
from pressroom.errors import StoreUnavailable
from tests import postgres
from tests.depth import by_depth
from tests.service.access_stage import on_stage
from tests.service.schema_stage import DOCS_BUILD, RENDER, WEBHOOK, Server

EXAMPLES = {"file": by_depth(2, 100), "on_server": by_depth(2, 20)}  # what a database makes of a request, the edges show
ONE_IN = 12  # operations, in the quick suite
LONGEST_WAIT = "0.02"  # what a generated `wait` becomes: the answers are the same, and sixty seconds are not

# What a request as the document allows it may be answered besides, because it is wrong in a way that no schema can put: a kind
# that is not there, a source that cannot be read, a range past the end, a key that came with another body, 2.0 for 2.
REFUSED = {
    "POST /jobs": ("400", "422"),
    "GET /jobs/{id}/result": ("409",),
    "POST /jobs/{id}/cancel": ("400", "422"),
    "POST /jobs/{id}/retry": ("400", "409", "422"),
    "GET /artifacts/{uid}": ("416",),
    "POST /webhooks": ("422",),
    "POST /queue/{kind}/scale": ("422",),
    "POST /render": ("400", "422"),
    "POST /render/terminal": ("400",),
    "GET /d/{shortlink}": ("416",),
    "GET /a/{file}": ("416",),
    "PUT /diagrams/{name}": ("400", "412"),
    "DELETE /diagrams/{name}": ("412",),
    "POST /kroki/": ("400",),
    "POST /kroki/{type}": ("400", "501"),
    "POST /kroki/{type}/{format}": ("400", "501"),
    "GET /kroki/{type}/{format}/{encoded}": ("400", "501"),
    "GET /admin/config/{key}/{number}/fields": ("422",),
    "POST /admin/config/{key}/{number}/dry-run": ("409", "422"),
    "POST /admin/config/{key}/{number}/publish": ("409",),
    "GET /admin/render-jobs": ("404",),
    "PUT /admin/documents/{doc_id}/overlays": ("422",),
    "POST /packs": ("400", "422"),
    "POST /packs/{pack_id}/render": ("400",),
    "POST /packs/{pack_id}/render/{doc_id}": ("400",),
    "POST /packs/{pack_id}/bundle": ("400",),
    "POST /packs/batches": ("400", "422"),
    "POST /render/jobs": ("400", "404", "422"),
    "POST /admin/orgs": ("400", "409", "422"),
    "PATCH /orgs/{org}": ("422",),
    "DELETE /admin/orgs/{org}": ("409",),
    "POST /orgs/{org}/slug-preview": ("422",),
    "POST /orgs/{org}/lifecycle": ("422",),
    "POST /orgs/{org}/members": ("422",),
    "GET /orgs/{org}/projects": ("422",),
    "POST /orgs/{org}/projects": ("400", "409", "422"),
    "PATCH /orgs/{org}/projects/{project}": ("422",),
    "POST /orgs/{org}/projects/{project}/builds": ("422",),
    "PATCH /orgs/{org}/projects/{project}/builds/{build}": ("409", "422"),
    "DELETE /orgs/{org}/projects/{project}/builds/{build}": ("409",),
    "GET /orgs/{org}/projects/{project}/builds/{build}/compare/{other}": ("409",),
    "POST /orgs/{org}/projects/{project}/editions": ("400", "409", "422"),
    "PATCH /orgs/{org}/projects/{project}/editions/{edition}": ("403", "409", "422"),
    "DELETE /orgs/{org}/projects/{project}/editions/{edition}": ("403",),
    "POST /orgs/{org}/projects/{project}/editions/{edition}/rollback": ("400", "409", "422"),
    "POST /orgs/{org}/projects/{project}/dashboard/rebuild": ("400",),
    "POST /orgs/{org}/dashboard/rebuild": ("400",),
    "POST /orgs/{org}/purgatory/{entry}/restore": ("400", "409"),
    "GET /orgs/{org}/purgatory": ("422",),
    "POST /orgs/{org}/credentials": ("409", "422"),
    "PUT /orgs/{org}/credentials/{label}": ("409", "422"),
    "DELETE /orgs/{org}/credentials/{label}": ("409",),
    "POST /orgs/{org}/services": ("409", "422"),
    "PATCH /orgs/{org}/services/{label}": ("409", "422"),
    "DELETE /orgs/{org}/services/{label}": ("409",),
    "PUT /orgs/{org}/dashboard-template": ("422",),
    "PUT /orgs/{org}/projects/{project}/dashboard-template": ("422",),
    "POST /hooks/git": ("404",),
    "POST /webhooks/github": ("404",),
    "GET /orgs/{org}/projects/{project}/search": ("422",),
    "GET /queue/jobs": ("422",),
    "POST /queue/jobs/{id}/cancel": ("400",),
    "POST /queue/jobs/{id}/retry": ("400", "409"),
}
# For those who see all organisations.
OF_ALL = (
    *("GET /metrics", "POST /queue/{kind}/pause", "POST /queue/{kind}/resume"),
    *("GET /workers", "POST /queue/{kind}/scale"),
    *("POST /admin/orgs", "DELETE /admin/orgs/{org}"),
)
UNKNOWN = "404"  # a name that was made up is hardly ever somebody's
# What makes sense, so that not every request is about what never was.
SOURCE = "digraph { a }"
SENSE: dict[str, Any] = {
    "POST /jobs": {"kind": "render", "payload": RENDER},
    "POST /render": {"source": SOURCE, "format": "dot"},
    "POST /render/terminal": {"source": SOURCE, "format": "dot"},
    "PUT /diagrams/{name}": {"source": "digraph { map }", "format": "dot"},
    "POST /webhooks": WEBHOOK,
    "POST /kroki/": {"diagram_source": SOURCE, "diagram_type": "graphviz", "output_format": "svg"},
    "POST /kroki/{type}": {"diagram_source": SOURCE},
    "POST /kroki/{type}/{format}": {"diagram_source": SOURCE},
    "POST /orgs/{org}/projects/{project}/builds": DOCS_BUILD,
    "POST /orgs/{org}/projects/{project}/editions": {"slug": "spare-0", "tracking_mode": "manual"},
    "PATCH /orgs/{org}/projects/{project}/builds/{build}": {"status": "uploaded"},
    "POST /orgs/{org}/members": {"role": "uploader"},
    "POST /orgs/{org}/slug-preview": {"git_ref": "v1.2.3"},
    "POST /orgs/{org}/lifecycle": {},
}
KROKI = {"type": "graphviz", "format": "svg", "encoded": "eNpLyUwvSizIUHBXqPZIzcnJ17ULzy_KSakFAGxACMY="}


@schemathesis.serializer("application/x-ndjson", "application/jsonl", "text/csv", "application/gzip")
def _as_text(context: schemathesis.SerializationContext, value: Any) -> bytes:
    return value.encode(errors="replace") if isinstance(value, str) else b""


on_file = pytest.mark.parametrize("server", ["file"], indirect=True)  # for what is about the document alone


@pytest.fixture(scope="module", params=["file", pytest.param("on_server", marks=pytest.mark.deep)])
def server(
    request: pytest.FixtureRequest, _postgres: postgres.Standing, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    """With a chafa that shows what it is given, so that `/render/terminal` does all the rest."""
    folder = tmp_path_factory.mktemp("schema")
    programs = tmp_path_factory.mktemp("programs")
    chafa = programs / "chafa"
    chafa.write_text("#!/bin/sh\ncat > /dev/null\necho picture\n")
    chafa.chmod(0o755)
    with pytest.MonkeyPatch.context() as patched, ExitStack() as opened:
        patched.setenv("PATH", str(programs), prepend=":")
        if request.param == "file":
            database = f"sqlite:///{folder / 'press.db'}"
        else:
            database = opened.enter_context(postgres.database_on(_postgres.address()))
        yield opened.enter_context(Server(database, folder, EXAMPLES[request.param]))


@pytest.fixture(scope="module")
def document(server: Server) -> Any:
    schema = schemathesis.openapi.from_dict(_strict(server.document))
    schema.config.update(base_url=server.url)
    schema.config.generation.update(allow_extra_parameters=False)  # what is not understood in a query is ignored
    return schema


def _strict(document: dict[str, Any]) -> dict[str, Any]:
    """In an answer there is no field that is not named."""
    strict = copy.deepcopy(document)
    asked = {body["schema"].get("$ref") for operation in _operations(document) for _, body in _bodies(operation)}
    for name, schema in strict["components"]["schemas"].items():
        if "properties" in schema and f"#/components/schemas/{name}" not in asked:
            schema["additionalProperties"] = False
    return strict


# The server is a thread of this process, and its retries roll dice while a strategy draws.
@pytest.mark.filterwarnings("ignore:Do not use the .random. module")
def test_the_service_does_what_its_document_says(server: Server, document: Any, subtests: pytest.Subtests) -> None:
    for number, result in enumerate(document.get_all_operations()):
        operation = result.ok()
        if number % by_depth(ONE_IN, 1):
            continue
        with subtests.test(operation.label):
            for mode in GenerationMode:
                _at_the_edges(operation, mode, server)
            _at_random(operation, server)


def _at_the_edges(operation: schemathesis.APIOperation, mode: GenerationMode, server: Server) -> None:
    """Every bound of every part on either side of it, every part left out, every other method."""
    generation = operation.schema.config.generation
    for case in operation.schema.iter_coverage_cases(operation, generation_modes=[mode], generation_config=generation):
        _send(case, server)


def _at_random(operation: schemathesis.APIOperation, server: Server) -> None:
    """Half of them wrong, unless it has no part that could be."""
    try:
        _examples(operation, GenerationMode.NEGATIVE, server.examples // 2, server)
    except Unsatisfiable:
        _examples(operation, GenerationMode.POSITIVE, server.examples, server)
    else:
        _examples(operation, GenerationMode.POSITIVE, server.examples // 2, server)


def _examples(operation: schemathesis.APIOperation, mode: GenerationMode, number: int, server: Server) -> None:
    @settings(
        max_examples=number,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate],
    )
    @given(operation.as_strategy(generation_mode=mode))
    def examples(case: schemathesis.Case) -> None:
        _send(case, server)

    examples()


def _send(case: schemathesis.Case, server: Server) -> None:
    turn, operation = next(server.turns), case.operation.label
    checks = case.operation.schema.config.checks
    refused = REFUSED.get(operation, ())
    unknown = (UNKNOWN,) if "{" in operation else ()
    checks.positive_data_acceptance.expected_statuses = ["2xx", "3xx", *unknown, *refused]
    # Not every engine of Kroki's is installed wherever this runs. Nothing else may fail.
    checks.not_a_server_error.expected_statuses = ["2xx", "3xx", "4xx", *({"501"} & set(refused))]
    if turn % 2:
        _make_sense(case, server, turn // 2)
    if "wait" in (case.query or {}) and not case.meta.is_negative_at(ParameterLocation.QUERY):
        case.query["wait"] = LONGEST_WAIT
    token = server.operator if operation in OF_ALL else server.tokens[turn // 2 % 2]
    try:
        case.call_and_validate(headers={"Authorization": f"Bearer {token}"}, timeout=300)
    except BaseException as failure:
        failure.add_note(
            f"{operation}: a status that the document lacks is added where the route says its `responses`. If a request that "
            f"fits the document is refused for what no schema can say, the status is added to REFUSED in {__name__}"
        )
        raise


def _make_sense(case: schemathesis.Case, server: Server, turn: int) -> None:
    """Nothing is mended of what is wrong on purpose."""
    operation = case.operation.label
    known = server.known_for(operation)
    wrong = {place for place in ParameterLocation if case.meta.is_negative_at(place)}
    if ParameterLocation.PATH not in wrong:
        for name in case.path_parameters or ():
            part = KROKI.get(name) or server.part_of(operation, name, turn)
            case.path_parameters[name] = part or (known[turn % len(known)] if known else case.path_parameters[name])
    sense = SENSE.get(operation)
    if sense is None or wrong & {ParameterLocation.BODY, ParameterLocation.QUERY}:
        return
    if case.media_type == "application/json":
        case.body, case.query = sense, {}
    else:
        case.body, case.query = SOURCE, {"format": "dot"}


@on_file
def test_every_operation_shows_a_request_and_an_answer_that_are_as_it_says(server: Server) -> None:
    for operation in _operations(server.document):
        name = operation["operationId"]
        for part in operation.get("parameters", ()):
            assert part["in"] != "path" or _fits(part["example"], part["schema"], server.document), f"{name}: {part['name']}"
        for media_type, content in _bodies(operation):
            assert _fits(content["example"], content["schema"], server.document), f"{name} takes {media_type}"
        given = {status: told for status, told in operation["responses"].items() if status.startswith("2")}
        assert given, name
        for status, told in given.items():
            assert status == "204" or told["content"], f"{name}: {status}"
            for content in told.get("content", {}).values():
                assert _fits(content["example"], content["schema"], server.document), f"{name}: {status}"


UNCONFIGURED = ("receive_git_webhook", "receive_github_webhook")  # there are none before a secret is set
# What is shown is right, and cannot be had here: a program is missing, the pack has no documents, or nothing was uploaded.
SHOWN = {
    "render_for_terminal": [200, 501],
    "request_bundle": [404],
    "start_build": [409],
    "upload_archive": [404],
    **{name: [404] for name in UNCONFIGURED},
    "roll_back_edition": [404],
    # On PostgreSQL there are no keys for secrets until an operator makes some.
    **{name: [200, 201, 404, 503] for name in ("create_credential", "replace_credential", "create_service", "change_service")},
}


async def test_the_requests_that_are_shown_are_accepted_as_they_are(database: str) -> None:
    async with on_stage(database) as stage, stage.client(await stage.token(everywhere=True)) as client:
        pack = (await client.post("/packs", json={"data": {}})).json()["pack_id"]
        for key, text in (
            ("template:report", "<p>Report</p>"),
            ("documents_registry", [{"doc_id": "report", "title": "Report"}]),
        ):
            await client.post(f"/admin/config/{key}/draft", json={"body": text})
            assert (await client.post(f"/admin/config/{key}/1/publish")).status_code == 200
        parts = await _documentation(client)
        for path, method, operation in _places(stage.app.document):
            for media_type, content in _bodies(operation):
                body = content["example"]
                where = path.replace("{name}", "map").replace("{kind}", "render")
                where = where.replace("{pack_id}", pack).replace("{key}", "template:report").replace("{doc_id}", "report")
                where = where.replace("{type}", "graphviz").replace("{format}", "svg")
                where = where.replace("/credentials/{label}", "/credentials/our-bucket").replace("{label}", "sites")
                for part, value in parts.items():
                    where = where.replace(f"{{{part}}}", value)
                query = {} if media_type == "application/json" else {"format": "dot"}
                query |= {"dry_run": "true"} if path.endswith("/lifecycle") else {}
                sent = (body if isinstance(body, str) else json.dumps(body)).replace(EXAMPLE_PACK, pack)
                answer = await client.request(
                    method, where, content=sent, params=query, headers={"Content-Type": media_type}, timeout=300
                )

                expected = SHOWN.get(operation["operationId"], [200, 201, 202])
                assert answer.status_code in expected, (
                    f"{method} {where}: the example is answered with {answer.status_code}: {answer.text}. If it is right and "
                    f"cannot succeed here, add {operation['operationId']!r} to SHOWN in this file"
                )


async def _documentation(client: httpx.AsyncClient) -> dict[str, str]:
    """Parts of paths that lead to an organisation, a project, a build and an edition."""
    await client.post("/admin/orgs", json={"slug": "shown"})
    await client.post("/orgs/shown/projects", json={"slug": "site"})
    build = await client.post("/orgs/shown/projects/site/builds", json=DOCS_BUILD)
    return {"org": "shown", "project": "site", "build": build.json()["id"], "edition": "__main"}


@on_file
def test_a_job_may_be_shown_in_the_words_of_its_app(server: Server) -> None:
    for path, method, status in (
        ("/jobs/{id}", "get", "200"),
        ("/jobs/{id}/result", "get", "202"),
        ("/jobs/{id}/cancel", "post", "200"),
        ("/jobs/{id}/cancel", "post", "202"),
    ):
        content = server.document["paths"][path][method]["responses"][status]["content"]["application/json"]
        assert content["schema"] == {
            "anyOf": [{"$ref": f"#/components/schemas/{name}"} for name in ("JobView", "DiagramView", "PackJobView")]
        }


@on_file
def test_an_operation_has_one_tag_that_the_document_names(server: Server) -> None:
    tags = {tag["name"] for tag in server.document["tags"]}
    for operation in _operations(server.document):
        assert len(operation["tags"]) == 1, operation["operationId"]
        assert operation["tags"][0] in tags


async def test_what_stands_around_every_route_is_in_the_document(file: str) -> None:
    """Whatever it refuses: compressed bodies, headers without end, and those who ask too often."""
    async with on_stage(file, works=False, rate_limit_address=1) as stage, stage.client() as client:
        await client.get("/jobs")
        for path, method, operation in _places(stage.app.document):
            for headers in ({"Content-Encoding": "gzip"}, {"X-Long": "x" * 70_000}, {}):
                answer = await client.request(method, path, headers=headers)

                assert str(answer.status_code) in operation["responses"], f"{method} {path}: {answer.text}"
                assert answer.status_code in (415, 431, 429) or path in ("/livez", "/readyz"), f"{method} {path}"
            assert ("429" in operation["responses"]) == (answer.status_code == 429), f"{method} {path}"


async def test_what_nobody_foresaw_is_a_500_that_the_document_names(file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async with on_stage(file, works=False) as stage, stage.client() as client:

        async def broken(*_: Any) -> None:
            raise ZeroDivisionError

        monkeypatch.setattr(RouteTable, "__call__", broken)
        for path, method, operation in _places(stage.app.document):
            answer = await client.request(method, path)

            assert answer.status_code == 500
            assert "500" in operation["responses"], f"{method} {path}"


async def test_whoever_is_asked_for_a_token_reads_so_in_the_document(file: str) -> None:
    async with on_stage(file, works=False) as stage:
        document = stage.app.document
        for path, method, operation in _places(document):
            for token in (None, "pr_wrong"):
                async with stage.client(token) as client:
                    answer = await client.request(method, path)

                expected = 404 if operation["operationId"] in UNCONFIGURED else 401
                assert (answer.status_code == expected) == ("401" in operation["responses"]), (
                    f"{method} {path} is answered with {answer.status_code} without a right token: its `responses` name 401 "
                    "if and only if it needs one"
                )
            security = operation.get("security", document["security"])
            assert "401" not in operation["responses"] or {"token": []} in security, f"{method} {path}"


async def test_a_database_that_cannot_be_reached_is_a_503_that_the_document_names(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with on_stage(database, works=False) as stage:
        token = await stage.token()

        async def gone(*_: Any, **__: Any) -> Any:
            raise StoreUnavailable("the database is gone")

        monkeypatch.setattr(type(stage.service.rendering.database), "read", gone)
        for path, method, operation in _places(stage.app.document):
            async with stage.client(token) as client:
                answer = await client.request(method, path)

            assert str(answer.status_code) in operation["responses"], f"{method} {path}: {answer.text}"
            expected = (404,) if operation["operationId"] in ("upload_archive", *UNCONFIGURED) else (200, 503)
            assert answer.status_code in expected, f"{method} {path}: {answer.text}"
            documented = operation["responses"][str(answer.status_code)]["content"]
            assert answer.headers["content-type"].partition(";")[0] in documented, f"{method} {path}: {answer.text}"


def _fits(example: Any, schema: dict[str, Any], document: dict[str, Any]) -> bool:
    whole = schema | {"components": document["components"]}
    jsonschema_rs.Draft202012Validator(whole, validate_formats=True).validate(example)
    return True


def _bodies(operation: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    yield from operation.get("requestBody", {}).get("content", {}).items()


def _operations(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for _, _, operation in _places(document):
        yield operation


def _places(document: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """With their parameters as they stand there, which may be any text but for numbers."""
    for path, item in document["paths"].items():
        for method, operation in item.items():
            yield path.replace("{number}", "1"), method.upper(), operation


async def test_a_404_is_in_the_document_where_a_path_has_a_part_that_may_be_wrong_and_only_there(file: str) -> None:
    async with on_stage(file, works=False) as stage:
        told = {path: "404" in one["responses"] for path, _, one in _places(stage.app.document) if path.startswith("/jobs")}

    assert told == {path: "{" in path for path in told}
    assert len(set(told.values())) == 2
