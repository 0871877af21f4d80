"""What the files of `deploy/` say."""

import re
import shlex
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
UNITS = sorted((DEPLOY / "systemd").glob("*.service"))
OURS = ("migrate", "api", "worker", "courier", "render")


def compose() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    return loaded


def services() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = compose()["services"]
    return found


def command_of(service: str) -> list[str]:
    command: list[str] = services()[service]["command"]
    return command


def environment(file: str, *, commented: bool = False) -> dict[str, str]:
    """What an environment file sets; `commented` adds what it only shows."""
    pattern = rf"^{'#?' if commented else ''}([A-Z][A-Z0-9_]*)=(.*)$"
    return dict(re.findall(pattern, (DEPLOY / file).read_text(), re.MULTILINE))


def dockerfile() -> list[tuple[str, str]]:
    """Each instruction with its text, continued lines joined."""
    text = re.sub(r"^#.*\n", "", (DEPLOY / "Dockerfile").read_text(), flags=re.MULTILINE).replace("\\\n", " ")
    return [(word, rest.strip()) for word, _, rest in (line.partition(" ") for line in text.splitlines() if line)]


def unit(file: Path) -> dict[str, list[str]]:
    """Every directive with its values, in order."""
    told: dict[str, list[str]] = {}
    for name, value in re.findall(r"^([A-Z][A-Za-z]+)=(.*)$", file.read_text().replace("\\\n", " "), re.MULTILINE):
        told.setdefault(name, []).append(value.strip())
    return told


def words(command: str) -> list[str]:
    return shlex.split(command)


def seconds(text: str) -> float:
    number, scale = re.fullmatch(r"(\d+)(s|min|m|)", text).groups()  # type: ignore[union-attr]
    return int(number) * (60 if scale in ("m", "min") else 1)
