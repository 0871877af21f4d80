"""Every page of the library under its address.

The names of documents stand behind a pack's id, so the pages and pictures of one document lie a step deeper, and `p`,
`batches`, `deleted`, `live` and `renders` are no ids of packs.
"""

from typing import TYPE_CHECKING

from pressroom.api.access import Scope
from pressroom.api.routes import Routes
from pressroom.apps.packs.library.batch_pages import BatchPages
from pressroom.apps.packs.library.bundle_page import BundlePages
from pressroom.apps.packs.library.comparison_page import VersionComparisonPage
from pressroom.apps.packs.library.document_page import DocumentPages
from pressroom.apps.packs.library.link_pages import LinkPages
from pressroom.apps.packs.library.live import PackUpdates
from pressroom.apps.packs.library.pack_page import PackPages
from pressroom.apps.packs.library.packs_page import PackLists
from pressroom.apps.packs.library.pdf_views import PdfViews
from pressroom.apps.packs.library.render_job_pages import RenderJobPages
from pressroom.web.site import Site

if TYPE_CHECKING:
    from pressroom.apps.packs.app import PacksApp


def router(site: Site, app: "PacksApp") -> Routes:
    routes = Routes()
    views = PdfViews(site.service.rendering)
    lists, packs, documents = PackLists(app), PackPages(app), DocumentPages(app, views)
    bundles = BundlePages(app, packs)
    comparison, by_link, updates = VersionComparisonPage(app, views), LinkPages(app, views), PackUpdates(site, app)

    site.get(routes, "/library", lists.show)
    site.get(routes, "/library/deleted", lists.show_deleted, needs=Scope.OPERATOR)
    batches, renders = BatchPages(app), RenderJobPages(app)
    site.get(routes, "/library/batches", batches.list)
    site.post(routes, "/library/batches", batches.create, needs=Scope.SUBMITTER, small=False)
    site.get(routes, "/library/batches/{batch_id}.zip", batches.download)
    site.get(routes, "/library/batches/{batch_id}", batches.show)
    site.post(routes, "/library/batches/{batch_id}/retry", batches.retry, needs=Scope.SUBMITTER)
    site.get(routes, "/library/renders", renders.show, needs=Scope.OPERATOR)
    site.post(routes, "/library/renders/requeue", renders.requeue_failed)
    site.post(routes, "/library/renders/{job_id}/requeue", renders.requeue)
    routes.add("/library/live", updates.stream, "GET")

    site.get_public(routes, "/library/p/{link}.zip", by_link.download_all)
    site.get_public(routes, "/library/p/{link}", by_link.show)
    site.get_public(routes, "/library/p/{link}/{doc_id}", by_link.show_document)
    site.get_public(routes, "/library/p/{link}/{doc_id}/{number}/download", by_link.download)
    site.get_public(routes, "/library/p/{link}/{doc_id}/{number}/picture", by_link.send_picture)

    site.get(routes, "/library/{pack_id}.zip", documents.download_all)
    site.get(routes, "/library/{pack_id}", packs.show)
    site.post(routes, "/library/{pack_id}/render", packs.render_all, needs=Scope.SUBMITTER)
    site.post(routes, "/library/{pack_id}/bundle", bundles.request_bundle, needs=Scope.SUBMITTER)
    site.get(routes, "/library/{pack_id}/bundle/download", bundles.download)
    site.post(routes, "/library/{pack_id}/{doc_id}/render", packs.render_one, needs=Scope.SUBMITTER)
    site.post(routes, "/library/{pack_id}/link", packs.make_link, needs=Scope.SUBMITTER)
    site.post(routes, "/library/{pack_id}/withdraw", packs.withdraw_link, needs=Scope.SUBMITTER)
    site.post(routes, "/library/{pack_id}/delete", packs.delete)
    site.post(routes, "/library/{pack_id}/restore", packs.restore)

    site.get(routes, "/library/{pack_id}/{doc_id}", documents.show)
    site.get(routes, "/library/{pack_id}/{doc_id}/compare", comparison.show)
    site.get(routes, "/library/{pack_id}/{doc_id}/overlay", comparison.send_overlay)
    site.get(routes, "/library/{pack_id}/{doc_id}/{number}/download", documents.download)
    site.get(routes, "/library/{pack_id}/{doc_id}/{number}/picture", documents.send_picture)
    return routes
