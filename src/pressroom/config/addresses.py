"""Addresses in settings: whether they are well-formed, their parts, and how they are shown."""

import re


def is_host_and_port(text: str) -> bool:
    host, _, port = text.rpartition(":")
    return bool(host) and port.isdigit() and int(port) <= 65_535


def split_host_and_port(address: str) -> tuple[str, int]:
    host, _, port = address.rpartition(":")
    return host.removeprefix("[").removesuffix("]"), int(port)


def is_postgres(database: str) -> bool:
    return database.startswith(("postgresql://", "postgres://"))


def is_database(address: str) -> bool:
    return is_postgres(address) or (address.startswith("sqlite:///") and address != "sqlite:///")


def mask_password(address: str) -> str:
    """An address without its password."""
    scheme, found, rest = address.partition("://")
    rest = re.sub(r"(?<=[?&]password=)[^&]*", "***", rest)
    credentials, at, host = rest.rpartition("@")
    if not found:
        return address
    if not at:
        return f"{scheme}://{rest}"
    user, colon, _ = credentials.partition(":")
    return f"{scheme}://{user}{':***' if colon else ''}@{host}"
