"""Which ref a site was built from: as the flags say, else the CI system, else the working tree."""

from pathlib import Path

import msgspec

from pressroom.apps.docs.commands.ci_systems import Environ, find_ci_run
from pressroom.apps.docs.commands.working_tree import WorkingTree, read_working_tree
from pressroom.errors import InvalidArgument


class Origin(msgspec.Struct, frozen=True):
    """`source`: who said it."""

    git_ref: str
    annotations: dict[str, str]
    source: str


def find_origin(site: Path, git_ref: str | None, annotations: dict[str, str], environ: Environ) -> Origin:
    """`annotations` go before those that were found. Raises InvalidArgument if no ref is found, or more than one."""
    run = find_ci_run(environ)
    if run is not None:
        ref = git_ref or run.git_ref
        if ref is None:
            raise InvalidArgument(
                run.problem or f"{run.annotations['ci_platform']} names no branch or tag here; say --git-ref REF"
            )
        return Origin(ref, run.annotations | annotations, "--git-ref" if git_ref else run.annotations["ci_platform"])
    tree = _find_tree(site, git_ref)
    found = {} if tree is None else _describe_tree(tree)
    if git_ref:
        # A ref that was given need not be what is checked out.
        return Origin(
            git_ref, (found if tree is not None and git_ref in (tree.branch, *tree.tags) else {}) | annotations, "--git-ref"
        )
    if tree is None:
        raise InvalidArgument(
            f"neither a CI system nor a git repository around {site} says which ref this is; say --git-ref REF"
        )
    return Origin(tree.ref(), found | annotations, tree.root)


def _find_tree(site: Path, git_ref: str | None) -> WorkingTree | None:
    """The repository of the site's folder and that of the current one, if they do not differ."""
    try:
        here, there = read_working_tree(Path.cwd()), read_working_tree(site) if site.is_dir() else None
    except InvalidArgument:
        if git_ref:
            return None
        raise
    if here is not None and there is not None and here.root != there.root:
        if git_ref:
            return None
        raise InvalidArgument(f"{here.root} and {there.root} are two repositories; say with --git-ref which ref this is")
    return here or there


def _describe_tree(tree: WorkingTree) -> dict[str, str]:
    named = {"commit_sha": tree.commit, "repository": tree.remote}
    return {name: value for name, value in named.items() if value}
