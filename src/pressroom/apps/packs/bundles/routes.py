"""`/packs/{pack_id}/bundle`: one PDF of a pack's documents."""

from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import Response

from pressroom.api import idempotency
from pressroom.api.access import Caller, Scope
from pressroom.api.replies import reply
from pressroom.api.routes import Routes
from pressroom.api.service import Service
from pressroom.apps.packs.bundles import openapi
from pressroom.apps.packs.bundles.model import BundleRequest
from pressroom.apps.packs.bundles.requests import Bundles
from pressroom.apps.packs.bundles.views import bundle_view, requested_bundle_view
from pressroom.apps.packs.model import Pack
from pressroom.apps.packs.request_parts import decode_body, trace_of, user_of
from pressroom.store import Transaction

type PackForReading = Callable[[Request, str], Awaitable[tuple[Pack, Caller | None]]]


def add_routes(routes: Routes, service: Service, bundles: Bundles, pack_for_reading: PackForReading) -> None:
    api = BundleApi(service, bundles, pack_for_reading)
    routes.add("/packs/{pack_id}/bundle", api.request_bundle, "POST", **openapi.REQUEST_BUNDLE)
    routes.add("/packs/{pack_id}/bundle", api.get_bundle, "GET", **openapi.GET_BUNDLE)


class BundleApi:
    def __init__(self, service: Service, bundles: Bundles, pack_for_reading: PackForReading) -> None:
        self._service = service
        self._bundles = bundles
        self._pack_for_reading = pack_for_reading

    async def request_bundle(self, request: Request, pack_id: str) -> Response:
        """One PDF of the ready documents of a pack, or of those that are named, as a job."""
        caller = await self._service.gate.caller(request, Scope.SUBMITTER)
        body = await request.body()
        wanted = decode_body(body, BundleRequest) if body else BundleRequest()

        async def act(_: Transaction | None) -> Response:
            requested = await self._bundles.request(
                caller.org_id,
                pack_id,
                wanted,
                requested_by=caller.name,
                user=user_of(request),
                trace=trace_of(request),
            )
            return reply(requested_bundle_view(requested))

        return await idempotency.act_or_replay(self._service, request, caller, body, act)

    async def get_bundle(self, request: Request, pack_id: str) -> Response:
        """The newest bundle of a pack, and the newest that is ready, with the versions of the documents in it."""
        pack, caller = await self._pack_for_reading(request, pack_id)
        by_link = caller is None
        view = bundle_view(pack, await self._bundles.find(pack, for_holder=by_link), for_holder=by_link)
        return reply(view, request=request, headers={"Cache-Control": "private, no-cache"})
