"""Deliveries of webhooks that were received: units of work."""

from pressroom.apps.docs.errors import DeliveryDiffers
from pressroom.model import Statement, Work
from pressroom.store.jobs.transitions import now

KEPT = 7 * 24 * 3600 * 1000  # milliseconds; git hosts repeat deliveries of the last three days


def note_delivery(id: str, digest: str) -> Work[bool]:
    """False for one that was received before. Raises DeliveryDiffers if that had another body."""
    moment = yield from now()
    yield Statement("docs.delete_old_webhook_deliveries", {"before": moment - KEPT})
    if (yield Statement("docs.insert_webhook_delivery", {"id": id, "digest": digest, "now": moment})):
        return True
    ((known,),) = yield Statement("docs.find_webhook_delivery", {"id": id})
    if known != digest:
        raise DeliveryDiffers
    return False
