"""Markdown that nobody here wrote: what some twenty packages carry as their documentation, by many writers.

`npm` brings the pages of all that it is made of, FastAPI's are in some twenty languages, and many are written for other tools,
with marks that mean nothing here. Some 45 megabytes are fetched, of which only the Markdown is kept.
"""

import hashlib
from pathlib import Path

from pressroom.apps.wiki.files import ENDINGS
from pressroom.apps.wiki.model import SOURCE_LIMIT
from tests.conformance import registries

NPM = {
    "@typescript-eslint/eslint-plugin": "5.62.0",
    "eslint-plugin-import": "2.32.0",
    "eslint-plugin-jest": "29.17.0",
    "eslint-plugin-sonarjs": "4.2.2",
    "fastify": "5.12.8",
    "marko": "4.18.0",
    "npm": "6.14.18",
    "undici": "7.30.2",
}
PYPI = {
    ("black", "26.5.1"): "dd321f668053961824bcc1be1cc1df748b2d7e4fa28086b08331e577b0100a73",
    ("briefcase", "0.4.7"): "a9ea1c5e7603eba82c22a51694077a6b96e3335756dee61a994ad64e091372c3",
    ("fastapi", "0.95.0"): "99d4fdb10e9dd9a24027ac1d0bd4b56702652056ca17a6c8721eec4ad2f14e18",
    ("griffe", "2.4.1"): "766123e26ec35b2ead63202e9e43ec309d876085d571b7df288256cd6fe4a3ef",
    ("hatch", "1.18.2"): "7f365f1a5b8f1a8162813daed9bf9fce83f15dc933fc99c6d04cbb942e64f4d0",
    ("jupyter_book", "2.1.7"): "e58de6026bb362c7e2e20a1703257a830645ea5521ce06a24018711643d203db",
    ("openai_agents", "0.9.3"): "65b150a86cae36f42da910a3a3793559ffbbe00c6fb8545e570867b84d25dbeb",
    ("pyinfra", "3.9.2"): "035a94c7d0a78059c86279f9292242ddf8b883959296e033aa0033db7f14e517",
    ("pymdown_extensions", "13.0"): "092524bea4fb3e62891204495de9e56b98603912df167ddd90d4f91bf2cd0414",
    ("pyodide_build", "0.39.2"): "77cc3d679c0bec5ce6798ff941491af320b52c2d522ea50415d9dd8d376c907b",
    ("sphinx_book_theme", "1.4.0"): "fee3cd70573d9a8cd4ab380a3cb1f11139c24dcaa2cf47d06d7f924f1b44eaff",
    ("starlette", "1.9.0"): "3d931de246ed870e35ce605974440816ef895e592f255d1396cfdf191d4c4318",
    ("vllm", "0.9.2"): "6b0d855ea8ba18d76364c9b82ea94bfcaa9c9e724055438b5733e4716ed104e1",
}


def markdown_files() -> list[Path]:
    """Each text once, in the order of their names, without those that a wiki would not take for their size or that are hidden.

    Raises OutOfReach.
    """
    found: dict[str, Path] = {}
    for package in _packages():
        for path in sorted(package.rglob("*")):
            if _is_a_page(path.relative_to(package), path):
                found.setdefault(hashlib.sha256(path.read_bytes()).hexdigest(), path)
    return list(found.values())


def place_of(path: Path) -> Path:
    """Where it lies in the corpus: its package and its place in that."""
    return path.relative_to(registries.CORPORA)


def _packages() -> list[Path]:
    fetched = [registries.npm(name, version, keep="*.md") for name, version in NPM.items()]
    return fetched + [registries.pypi_source(name, version, sha256, keep="*.md") for (name, version), sha256 in PYPI.items()]


def _is_a_page(place: Path, path: Path) -> bool:
    hidden = any(part.startswith(".") for part in place.parts)
    return not hidden and place.suffix in ENDINGS and path.is_file() and path.stat().st_size <= SOURCE_LIMIT
