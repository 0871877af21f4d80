"""`pressroom docs credentials …, services …, keys rotate`: what an organisation publishes to, and its secrets."""

import json
import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pressroom.app import AddCommand
from pressroom.apps.docs.commands.field_values import read_fields
from pressroom.apps.docs.commands.places import AUTHOR, find_org
from pressroom.cli import exits
from pressroom.cli.output import Output
from pressroom.errors import InvalidArgument
from pressroom.model import from_ms

if TYPE_CHECKING:
    from pressroom.apps.docs.app import DocsApp
    from pressroom.apps.docs.credentials.model import Credential, OrgService


def add_commands(add: AddCommand) -> None:
    add.add_group("credentials", "secrets of an organisation; they are written, and never shown")
    _add_org_option(add("credentials list", list_credentials, "their labels, providers and versions of the key"))
    adding = add("credentials add", add_credential, "a secret, read from a file or from standard input")
    _add_label(adding)
    adding.add_argument("--provider", required=True, help="aws, s3, bearer, cloudflare, fastly or gcp")
    _add_secret_file(adding)
    replacing = add("credentials replace", replace_credential, "another secret of the same provider")
    _add_label(replacing)
    _add_secret_file(replacing)
    _add_label(add("credentials delete", delete_credential, "one that no service uses"))

    add.add_group("services", "object stores, key-value stores and CDNs of an organisation")
    _add_org_option(add("services list", list_services, "the services, by label"))
    making = add("services add", add_service, "a service; `init ORG --set slots=…` uses it")
    _add_label(making)
    making.add_argument("--provider", required=True, help="folder, aws_s3, cloudflare_r2, minio, redis, http_purge, …")
    _add_config(making)
    changing = add("services change", change_service, "its configuration or its credential")
    _add_label(changing)
    _add_config(changing)
    _add_label(add("services delete", delete_service, "one that its organisation does not use"))

    add.add_group("keys", "the keys that credentials are encrypted with")
    rotating = add("keys rotate", rotate_keys, "new versions; `enqueue credential_rewrap` encrypts what is stored anew")
    rotating.add_argument("--org", help="only of this organisation, where each has a key of its own")


def _add_org_option(parser: ArgumentParser) -> None:
    parser.add_argument("--org", help="the organisation (default: PRESSROOM_ORG, or the only one)")


def _add_label(parser: ArgumentParser) -> None:
    parser.add_argument("label", metavar="LABEL")
    _add_org_option(parser)


def _add_secret_file(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--from",
        dest="file",
        default="-",
        metavar="FILE",
        help='a JSON object such as {"access_key_id": "…", "secret_access_key": "…"} (default: standard input)',
    )


def _add_config(parser: ArgumentParser) -> None:
    parser.add_argument("--credential", metavar="LABEL", help="the credential that it needs")
    parser.add_argument(
        "--set", dest="fields", action="append", default=[], metavar="NAME=VALUE", help="of its configuration; may be repeated"
    )


async def list_credentials(app: "DocsApp", args: Namespace, output: Output) -> int:
    found = await app.credentials.list(await find_org(app, args.org))
    if output.as_json:
        output.data([_credential_fields(one) for one in found])
        return exits.OK
    rows = [(one.label, one.provider, one.key_version, from_ms(one.date_changed).date().isoformat()) for one in found]
    output.table(("CREDENTIAL", "PROVIDER", "KEY VERSION", "CHANGED"), rows)
    return exits.OK


async def add_credential(app: "DocsApp", args: Namespace, output: Output) -> int:
    from pressroom.apps.docs.credentials.model import CredentialDraft

    draft = CredentialDraft(label=args.label, provider=args.provider, credentials=_read_secret(args.file))
    made = await app.credentials.create(await find_org(app, args.org), draft, actor=AUTHOR)
    return _report(f"the credential {made.label} is kept", _credential_fields(made), output)


async def replace_credential(app: "DocsApp", args: Namespace, output: Output) -> int:
    from pressroom.apps.docs.credentials.model import NewSecret

    secret = NewSecret(credentials=_read_secret(args.file))
    made = await app.credentials.replace(await find_org(app, args.org), args.label, secret, actor=AUTHOR)
    return _report(f"the credential {made.label} was replaced", _credential_fields(made), output)


async def delete_credential(app: "DocsApp", args: Namespace, output: Output) -> int:
    await app.credentials.delete(await find_org(app, args.org), args.label, actor=AUTHOR)
    return _report(f"the credential {args.label} was deleted", {"deleted": args.label}, output)


def _read_secret(file: str) -> dict[str, Any]:
    """The messages quote nothing of what was read."""
    try:
        secret = json.loads(sys.stdin.read() if file == "-" else Path(file).read_text(encoding="utf-8"))
    except OSError as reason:
        raise InvalidArgument(f"{file} cannot be read: {reason.strerror}") from None
    except (ValueError, RecursionError):
        raise InvalidArgument("a credential is a JSON object") from None
    if not isinstance(secret, dict):
        raise InvalidArgument("a credential is a JSON object")
    return secret


async def list_services(app: "DocsApp", args: Namespace, output: Output) -> int:
    found = await app.services.list(await find_org(app, args.org))
    if output.as_json:
        output.data([_service_fields(one) for one in found])
        return exits.OK
    rows = [
        (one.label, one.category, one.provider, one.credential_label, json.dumps(one.config, ensure_ascii=False))
        for one in found
    ]
    output.table(("SERVICE", "CATEGORY", "PROVIDER", "CREDENTIAL", "CONFIGURATION"), rows)
    return exits.OK


async def add_service(app: "DocsApp", args: Namespace, output: Output) -> int:
    from pressroom.apps.docs.credentials.model import ServiceDraft

    draft = ServiceDraft(
        label=args.label, provider=args.provider, config=read_fields(args.fields), credential_label=args.credential
    )
    made = await app.services.create(await find_org(app, args.org), draft, actor=AUTHOR)
    return _report(f"the service {made.label} was made", _service_fields(made), output)


async def change_service(app: "DocsApp", args: Namespace, output: Output) -> int:
    from pressroom.apps.docs.credentials.model import ServiceChanges

    org = await find_org(app, args.org)
    fields: dict[str, Any] = {} if args.credential is None else {"credential_label": args.credential or None}
    if args.fields:
        fields["config"] = (await app.services.get(org, args.label)).config | read_fields(args.fields)
    if not fields:
        raise InvalidArgument("say what to change: --set NAME=VALUE, or --credential LABEL")
    saved = await app.services.change(org, args.label, ServiceChanges(**fields), actor=AUTHOR)
    return _report(f"the service {saved.label} was changed", _service_fields(saved), output)


async def delete_service(app: "DocsApp", args: Namespace, output: Output) -> int:
    await app.services.delete(await find_org(app, args.org), args.label, actor=AUTHOR)
    return _report(f"the service {args.label} was deleted", {"deleted": args.label}, output)


async def rotate_keys(app: "DocsApp", args: Namespace, output: Output) -> int:
    rotated = await app.credentials.rotate_keys(org=args.org, actor=AUTHOR)
    if output.as_json:
        output.data(rotated)
        return exits.OK
    for key in rotated:
        output.line(f"the key of {key.org or 'all organisations'} has the version {key.version}")
    return exits.OK


def _credential_fields(one: "Credential") -> dict[str, Any]:
    dates = {"date_created": from_ms(one.date_created), "date_updated": from_ms(one.date_changed)}
    return {"label": one.label, "provider": one.provider, "key_version": one.key_version, **dates}


def _service_fields(one: "OrgService") -> dict[str, Any]:
    facts = {"label": one.label, "category": one.category, "provider": one.provider, "config": one.config}
    dates = {"date_created": from_ms(one.date_created), "date_updated": from_ms(one.date_changed)}
    return {**facts, "credential_label": one.credential_label, **dates}


def _report(line: str, fields: dict[str, Any], output: Output) -> int:
    if output.as_json:
        output.data(fields)
    else:
        output.line(line)
    return exits.OK
