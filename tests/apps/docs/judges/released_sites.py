"""Sites of documentation as ten projects have released them: built by Sphinx (with the themes furo, pydata-sphinx-theme and
sphinx-rtd-theme) and by MkDocs Material from the sources in their sdists, each in three versions.

They are kept in `.cache/corpora`. A project's own configuration is used, without the extensions that are not installed and
without inventories of other sites.
"""

import hashlib
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.apps.docs.judges.judge_programs import run_judge
from tests.conformance import registries
from tests.conformance.registries import ROOT

CONF_CHANGES = Path(__file__).with_name("conf_changes.py.txt")
MKDOCS = """INHERIT: {config}
docs_dir: {docs}
site_url: ''
strict: false
hooks: []
plugins: [search]
markdown_extensions: {extensions}
watch: []
extra_javascript: []
"""
# Those of the projects that come with MkDocs Material, without options.
EXTENSIONS = (
    "[admonition, attr_list, def_list, footnotes, md_in_html, pymdownx.details, pymdownx.highlight, pymdownx.superfences]"
)


@dataclass(frozen=True)
class DocumentedPackage:
    """`docs` is the folder of its documentation in the sdist, `word` one that its own search finds."""

    name: str
    theme: str
    docs: str
    word: str
    releases: dict[str, str]  # version and SHA-256 of the sdist


@dataclass(frozen=True)
class ReleasedSite:
    package: DocumentedPackage
    version: str
    folder: Path


PACKAGES = (
    DocumentedPackage(
        "attrs",
        "furo",
        "docs",
        "validators",
        {
            "24.3.0": "8f5c07333d543103541ba7be0e2ce16eeee8130cb0b3f9238ab904ce1e85baff",
            "25.3.0": "75d7cefc7fb576747b2c81b4442d4d4a1ce0900973527c011d1030fd3bf4af1b",
            "25.4.0": "16d5969b87f0859ef33a48b35d55ac1be6e42ae49d5e853b597db70c35c57e11",
        },
    ),
    DocumentedPackage(
        "more_itertools",
        "furo",
        "docs",
        "windowed",
        {
            "10.8.0": "f638ddf8a1a0d134181275fb5d58b086ead7c6a72429ad725c67503f13ba30bd",
            "11.0.2": "392a9e1e362cbc106a2457d37cabf9b36e5e12efd4ebff1654630e76597df804",
            "11.1.0": "48e8f4d9e7e5878571ecf6f2b4e57634f93cd474cc8cfbd2376f2d11b396e30d",
        },
    ),
    DocumentedPackage(
        "packaging",
        "furo",
        "docs",
        "specifier",
        {
            "24.2": "c228a6dc5e932d346bc5739379109d49e8853dd8223571c7c5b55260edc0b97f",
            "25.0": "d443872c98d677bf60f6a1f2f8c1cb748e8fe762d2bf9d3148b5599295b0fc4f",
            "26.0": "00243ae351a257117b6a241061796684b084ed1c516a08c48a3f7e147a9d80b4",
        },
    ),
    DocumentedPackage(
        "urllib3",
        "furo",
        "docs",
        "retries",
        {
            "2.5.0": "3fc47733c7e419d4bc3f6b3dc2b4f890bb743906a30d56ba4a5bfa4bbff92760",
            "2.6.3": "1b62b6884944a57dbe321509ab94fd4d3b307075e0c2eae991ac71ee15ad38ed",
            "2.7.0": "231e0ec3b63ceb14667c67be60f2f2c40a518cb38b03af60abc813da26505f4c",
        },
    ),
    DocumentedPackage(
        "traitlets",
        "pydata_sphinx_theme",
        "docs/source",
        "configurable",
        {
            "5.14.3": "9ed0579d3502c94b4b3732ac120375cda96f923114522847de4b3bb98b96b6b7",
            "5.15.1": "7b1c07854fe25acb39e009bae49f11b79ff6cbb2f27999104e9110e7a6b53722",
            "5.16.1": "ed900c2b631aa3a112811139fa97b8d2c3bad5e989656bba4b7e52c7852c18c1",
        },
    ),
    DocumentedPackage(
        "jupyter_client",
        "pydata_sphinx_theme",
        "docs",
        "heartbeat",
        {
            "8.6.3": "35b3a0947c4a6e9d589eb97d7d4cd5e90f910ee73101611f01283732bd6d9419",
            "8.8.0": "d556811419a4f2d96c869af34e854e3f059b7cc2d6d01a9cd9c85c267691be3e",
            "8.10.0": "9f7116294dca55f1785be880057d44544db9b1567718d92cb33c58886afb9497",
        },
    ),
    DocumentedPackage(
        "anyio",
        "sphinx_rtd_theme",
        "docs",
        "cancellation",
        {
            "4.13.0": "334b70e641fd2221c1505b3890c69882fe4a2df910cba14d97019b90b24439dc",
            "4.15.1": "9f28306018cbd6d329e64a36d58256edff76dd996fe423bc957326e578b82a94",
            "4.16.0": "59bb03251907983d1603d27c3087ddb1e93299ea2163adcdba37899a4fb12ffb",
        },
    ),
    DocumentedPackage(
        "coverage",
        "sphinx_rtd_theme",
        "doc",
        "subprocess",
        {
            "7.16.2": "ca64d9f1f384f151b9511bec01126072acd2f313439f8ed015a22d8790aab6fa",
            "7.17.2": "d05a1bef52f4d7f1b484a1cf46a8929e50963f910e51396373f06cd3b6248f38",
            "7.17.3": "6695d1bb2a9a2fbd7806d69d78cf30f35eb0f65045da0ec5b5045242fadd6a78",
        },
    ),
    DocumentedPackage(
        "starlette",
        "material",
        "docs",
        "middleware",
        {
            "1.8.0": "1565dc0b35d5737a271ed1e0e04e949f4e81198799f216d2667b0a0fb9cf9522",
            "1.9.0": "3d931de246ed870e35ce605974440816ef895e592f255d1396cfdf191d4c4318",
            "1.10.0": "b8399098d4c1e3522734f7235dc79b1fc967f96cf139c81e0fa30479e0685f9b",
        },
    ),
    DocumentedPackage(
        "hatch",
        "material",
        "docs",
        "environments",
        {
            "1.17.1": "e5f2f389ececd7e86cd86863e3f921a9024cd04ce6ef6b36d07cd9a6dc37c9cd",
            "1.18.1": "222fff78e197cf12a39db7efe5318ca403f2614db213416fd106a6c3260ef221",
            "1.18.2": "7f365f1a5b8f1a8162813daed9bf9fce83f15dc933fc99c6d04cbb942e64f4d0",
        },
    ),
)


def package(name: str) -> DocumentedPackage:
    return next(package for package in PACKAGES if package.name == name)


def released_sites(package: DocumentedPackage) -> Iterator[ReleasedSite]:
    """One for each version, the oldest first. Raises OutOfReach."""
    for version in package.releases:
        yield released_site(package, version)


def released_site(package: DocumentedPackage, version: str) -> ReleasedSite:
    """Raises OutOfReach."""
    source = registries.pypi_source(package.name, version, package.releases[version])
    builders = (ROOT / "requirements" / "judges.txt").read_text() + CONF_CHANGES.read_text() + MKDOCS + EXTENSIONS
    made_by = hashlib.sha256(builders.encode()).hexdigest()[:10]

    def build(folder: Path) -> None:
        with tempfile.TemporaryDirectory(prefix="building-") as scratch:
            copy = Path(scratch) / "source"
            shutil.copytree(source / f"{package.name}-{version}", copy)
            (_build_with_mkdocs if package.theme == "material" else _build_with_sphinx)(package, copy, folder)

    return ReleasedSite(package, version, registries.once(f"site-{package.name}-{version}-{made_by}", build))


def _build_with_sphinx(package: DocumentedPackage, source: Path, folder: Path) -> None:
    docs = source / package.docs
    with (docs / "conf.py").open("a") as conf:
        conf.write(CONF_CHANGES.read_text())
    doctrees = source / "doctrees-of-the-build"
    importable = {"PYTHONPATH": f"{source / 'src'}:{source}"}
    run_judge("-m", "sphinx", "-q", "-b", "html", "-d", doctrees, docs, folder, environ=importable)


def _build_with_mkdocs(package: DocumentedPackage, source: Path, folder: Path) -> None:
    config = source / "mkdocs-of-the-build.yml"
    config.write_text(MKDOCS.format(config=source / "mkdocs.yml", docs=source / package.docs, extensions=EXTENSIONS))
    run_judge("-m", "mkdocs", "--quiet", "build", "--config-file", config, "--site-dir", folder)


def main() -> None:
    """`python -m tests.apps.docs.judges.released_sites [NAME…]`: build them, and say where they are."""
    for name in sys.argv[1:] or [package.name for package in PACKAGES]:
        for site in released_sites(package(name)):
            files = [path for path in site.folder.rglob("*") if path.is_file()]
            size = sum(path.stat().st_size for path in files)
            print(f"{name} {site.version} {len(files)} files, {size:,} bytes: {site.folder}", flush=True)


if __name__ == "__main__":
    main()
