"""`pressroom webhooks`: list, add, remove, deliveries, replay."""

from argparse import Namespace
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

from pressroom.cli import exits
from pressroom.cli.commands import Commands, add_home_option, command_on_webhooks
from pressroom.cli.output import Output, format_age
from pressroom.notify.standard_webhooks import EVENTS

if TYPE_CHECKING:
    from pressroom.kinds.webhooks import Webhooks
    from pressroom.store.webhooks.webhooks import Webhook, WebhookDelivery

STATES = ("waiting", "delivered", "failed", "cancelled")
_PAGE = 200


def add_commands(commands: Commands) -> None:
    actions = commands.add_group("webhooks", "list, add, remove, deliveries, replay: URLs that are told of jobs that end")

    listing = actions.add("list", command_on_webhooks(list_webhooks), "every webhook, without its secret")
    add_home_option(listing)
    listing.add_argument("--org", help="only of this organisation")

    text = "tell an address of jobs that end; its secret is shown once"
    adding = actions.add("add", command_on_webhooks(add_webhook), text, makes_database=True)
    add_home_option(adding)
    adding.add_argument("url", help="https and public, unless the setting `webhook_allow` names its host")
    adding.add_argument("--event", action="append", choices=EVENTS, help="may be repeated (default: all)")
    adding.add_argument("--kind", action="append", help="only jobs of this kind; may be repeated")
    adding.add_argument("--org", help="whose jobs (default: those without an organisation)")

    removing = actions.add("remove", command_on_webhooks(remove_webhook), "tell these nothing more")
    add_home_option(removing)
    removing.add_argument("webhook", nargs="+")

    showing = actions.add(
        "deliveries", command_on_webhooks(list_deliveries), "what one was told, newest first, and how it answered"
    )
    add_home_option(showing)
    showing.add_argument("webhook")
    showing.add_argument("--state", choices=STATES)
    showing.add_argument("--limit", type=int, default=50)

    replaying = actions.add("replay", command_on_webhooks(replay_delivery), "deliver these again, now, whatever became of them")
    add_home_option(replaying)
    replaying.add_argument("delivery", nargs="+")


async def list_webhooks(webhooks: "Webhooks", args: Namespace, output: Output) -> int:
    found = [webhook async for webhook in _iterate_webhooks(webhooks, args.org)]
    if output.as_json:
        output.data([_webhook_view(webhook) for webhook in found])
        return exits.OK
    output.table(
        ("ID", "OF", "URL", "EVENTS", "KINDS", "AGE", "STATE"),
        (
            (
                f"wh_{webhook.uid}",
                webhook.org_id or "the default organisation",
                webhook.url,
                ",".join(webhook.events),
                ",".join(webhook.kinds or ("all",)),
                format_age(webhook.date_created),
                "told" if webhook.disabled_because is None else f"disabled: {webhook.disabled_because}",
            )
            for webhook in found
        ),
    )
    return exits.OK


async def add_webhook(webhooks: "Webhooks", args: Namespace, output: Output) -> int:
    events = list(dict.fromkeys(args.event or EVENTS))
    kinds = list(dict.fromkeys(args.kind)) if args.kind else None
    made, secret = await webhooks.add(args.org, args.url, events, kinds)
    if output.as_json:
        output.data(_webhook_view(made) | {"secret": secret})
        return exits.OK
    output.line(f"wh_{made.uid}")
    output.line(secret)
    output.note("it verifies what arrives, and is shown only now: keep it safe")
    return exits.OK


async def remove_webhook(webhooks: "Webhooks", args: Namespace, output: Output) -> int:
    for name in args.webhook:
        await webhooks.remove(await _get_webhook(webhooks, name))
        if output.as_json:
            output.data({"webhook": name, "removed": True})
        else:
            output.line(f"{name} is told nothing more; its deliveries are gone with it")
    return exits.OK


async def list_deliveries(webhooks: "Webhooks", args: Namespace, output: Output) -> int:
    from pressroom.store.jobs.queries import BEYOND

    webhook = await _get_webhook(webhooks, args.webhook)
    found = await webhooks.deliveries(webhook, state=args.state, before=BEYOND, limit=args.limit)
    if output.as_json:
        output.data([_delivery_view(delivery) for delivery in found])
        return exits.OK
    output.table(
        ("ID", "EVENT", "JOB", "STATE", "ATTEMPTS", "ANSWER", "AGE", "ERROR"),
        (
            (
                f"msg_{delivery.uid}",
                delivery.type,
                _job_id(delivery),
                delivery.state,
                delivery.attempts,
                delivery.status,
                format_age(delivery.date_created),
                delivery.error,
            )
            for delivery in found
        ),
    )
    return exits.OK


async def replay_delivery(webhooks: "Webhooks", args: Namespace, output: Output) -> int:
    for name in args.delivery:
        again = await webhooks.replay(await webhooks.delivery(name.removeprefix("msg_")))
        if output.as_json:
            output.data(_delivery_view(again))
        else:
            output.line(f"{name} is delivered again by job_{again.job}, as soon as a process works")
    return exits.OK


async def _iterate_webhooks(webhooks: "Webhooks", org: str | None) -> AsyncIterator["Webhook"]:
    after = ""
    while page := await webhooks.list(org, after=after, limit=_PAGE):
        for webhook in page:
            yield webhook
        after = page[-1].uid


async def _get_webhook(webhooks: "Webhooks", name: str) -> "Webhook":
    return await webhooks.get(name.removeprefix("wh_"))


def _webhook_view(webhook: "Webhook") -> dict[str, Any]:
    """As the service shows it, with whose it is."""
    return {
        "id": f"wh_{webhook.uid}",
        "org": webhook.org_id,
        "url": webhook.url,
        "events": webhook.events,
        "kinds": webhook.kinds,
        "disabled_because": webhook.disabled_because,
        "date_created": webhook.date_created,
    }


def _delivery_view(delivery: "WebhookDelivery") -> dict[str, Any]:
    return {
        "id": f"msg_{delivery.uid}",
        "webhook": f"wh_{delivery.webhook}",
        "type": delivery.type,
        "job_id": _job_id(delivery),
        "state": delivery.state,
        "attempts": delivery.attempts,
        "status": delivery.status,
        "response": delivery.response,
        "error": delivery.error,
        "delivered_by": delivery.job and f"job_{delivery.job}",
        "next_attempt": delivery.next_attempt,
        "date_created": delivery.date_created,
        "date_attempted": delivery.date_attempted,
        "date_ended": delivery.date_ended,
    }


def _job_id(delivery: "WebhookDelivery") -> str | None:
    about = delivery.facts.get("id")
    return about and f"job_{about}"
