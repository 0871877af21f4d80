"""Names of git refs, as people write them."""

from pressroom.apps.docs.operations import checks


def check_ref(ref: str) -> str:
    """The short name of a branch or tag: `refs/heads/main` is `main`. Raises InvalidArgument."""
    return checks.check_ref(short_name(ref), "ref")


def short_name(ref: str) -> str:
    return ref.removeprefix("refs/heads/").removeprefix("refs/tags/")


def full_names(ref: str) -> tuple[str, str]:
    """A branch goes before a tag of its name."""
    return f"refs/heads/{ref}", f"refs/tags/{ref}"
