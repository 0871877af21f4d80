"""What a CI system says in the environment: the ref, the commit, and the run."""

import json
from collections.abc import Mapping
from pathlib import Path

import msgspec

from pressroom.apps.docs.git.addresses import repository_name
from pressroom.errors import InvalidArgument

type Environ = Mapping[str, str]


class CiRun(msgspec.Struct, frozen=True):
    """`git_ref` is None if the system names none, or must not be believed: then `problem` says why."""

    git_ref: str | None
    annotations: dict[str, str]
    problem: str | None = None


class CiSystem(msgspec.Struct, frozen=True):
    """Where a system says what. The first variable of `refs` that is set is the ref. `base` has the branch that a pull request
    is for; where others have it too, `pull_request` is set for those alone. `annotations`: the variable by the name of the
    annotation."""

    name: str
    marker: str
    refs: tuple[str, ...]
    commit: str
    annotations: Mapping[str, str] = {}
    base: str = ""
    pull_request: str = ""


# Where a pull request of a fork is built: these variables are set and not "False", or those of a pair name two repositories.
FORK_FLAGS = ("SYSTEM_PULLREQUEST_ISFORK", "CHANGE_FORK")
FORK_PAIRS = (
    ("CI_MERGE_REQUEST_SOURCE_PROJECT_ID", "CI_MERGE_REQUEST_PROJECT_ID"),
    ("TRAVIS_PULL_REQUEST_SLUG", "TRAVIS_REPO_SLUG"),
    ("BUILDKITE_PULL_REQUEST_REPO", "BUILDKITE_REPO"),
)

# Gitea and Forgejo set GitHub's variables too, so they come first. `CI_*` of no other system is GitLab's or Woodpecker's.
SYSTEMS = (
    *(
        CiSystem(
            name,
            marker,
            ("GITHUB_HEAD_REF", "GITHUB_REF_NAME", "GITHUB_REF"),
            "GITHUB_SHA",
            {
                "github_repository": "GITHUB_REPOSITORY",
                "github_run_id": "GITHUB_RUN_ID",
                "github_run_attempt": "GITHUB_RUN_ATTEMPT",
                "github_workflow": "GITHUB_WORKFLOW",
                "github_actor": "GITHUB_ACTOR",
                "github_event_name": "GITHUB_EVENT_NAME",
            },
            "GITHUB_BASE_REF",
        )
        for name, marker in (("forgejo", "FORGEJO_ACTIONS"), ("gitea", "GITEA_ACTIONS"), ("github-actions", "GITHUB_ACTIONS"))
    ),
    CiSystem(
        "gitlab-ci",
        "GITLAB_CI",
        ("CI_MERGE_REQUEST_SOURCE_BRANCH_NAME", "CI_COMMIT_TAG", "CI_COMMIT_REF_NAME"),
        "CI_COMMIT_SHA",
        {"repository": "CI_PROJECT_PATH", "run_id": "CI_PIPELINE_ID", "run_url": "CI_JOB_URL", "actor": "GITLAB_USER_LOGIN"},
        "CI_MERGE_REQUEST_TARGET_BRANCH_NAME",
    ),
    CiSystem(
        "woodpecker",
        "CI_WORKFLOW_NAME",
        ("CI_COMMIT_TAG", "CI_COMMIT_SOURCE_BRANCH", "CI_COMMIT_BRANCH"),
        "CI_COMMIT_SHA",
        {"repository": "CI_REPO", "run_id": "CI_PIPELINE_NUMBER", "run_url": "CI_PIPELINE_URL", "actor": "CI_COMMIT_AUTHOR"},
        "CI_COMMIT_TARGET_BRANCH",
    ),
    CiSystem(
        "drone",
        "DRONE",
        ("DRONE_TAG", "DRONE_SOURCE_BRANCH", "DRONE_BRANCH"),
        "DRONE_COMMIT_SHA",
        {"repository": "DRONE_REPO", "run_id": "DRONE_BUILD_NUMBER", "run_url": "DRONE_BUILD_LINK"},
        "DRONE_TARGET_BRANCH",
        "DRONE_PULL_REQUEST",
    ),
    CiSystem(
        "circleci",
        "CIRCLECI",
        ("CIRCLE_TAG", "CIRCLE_BRANCH"),
        "CIRCLE_SHA1",
        {"run_id": "CIRCLE_BUILD_NUM", "run_url": "CIRCLE_BUILD_URL", "actor": "CIRCLE_USERNAME"},
    ),
    CiSystem(
        "travis",
        "TRAVIS",
        ("TRAVIS_TAG", "TRAVIS_PULL_REQUEST_BRANCH", "TRAVIS_BRANCH"),
        "TRAVIS_COMMIT",
        {"repository": "TRAVIS_REPO_SLUG", "run_id": "TRAVIS_BUILD_ID", "run_url": "TRAVIS_BUILD_WEB_URL"},
    ),
    CiSystem(
        "buildkite",
        "BUILDKITE",
        ("BUILDKITE_TAG", "BUILDKITE_BRANCH"),
        "BUILDKITE_COMMIT",
        {"run_id": "BUILDKITE_BUILD_NUMBER", "run_url": "BUILDKITE_BUILD_URL", "actor": "BUILDKITE_BUILD_CREATOR"},
        "BUILDKITE_PULL_REQUEST_BASE_BRANCH",
    ),
    CiSystem(
        "bitbucket",
        "BITBUCKET_BUILD_NUMBER",
        ("BITBUCKET_TAG", "BITBUCKET_BRANCH"),
        "BITBUCKET_COMMIT",
        {"repository": "BITBUCKET_REPO_FULL_NAME", "run_id": "BITBUCKET_BUILD_NUMBER"},
        "BITBUCKET_PR_DESTINATION_BRANCH",
    ),
    CiSystem(
        "azure-pipelines",
        "TF_BUILD",
        ("SYSTEM_PULLREQUEST_SOURCEBRANCH", "BUILD_SOURCEBRANCH"),
        "BUILD_SOURCEVERSION",
        {"repository": "BUILD_REPOSITORY_NAME", "run_id": "BUILD_BUILDID", "actor": "BUILD_REQUESTEDFOR"},
        "SYSTEM_PULLREQUEST_TARGETBRANCH",
    ),
    CiSystem(
        "jenkins",
        "JENKINS_URL",
        ("TAG_NAME", "CHANGE_BRANCH", "BRANCH_NAME", "GIT_BRANCH"),
        "GIT_COMMIT",
        {"run_id": "BUILD_NUMBER", "run_url": "BUILD_URL"},
        "CHANGE_TARGET",
    ),
    CiSystem(
        "ci", "CI", ("CI_COMMIT_TAG", "CI_COMMIT_REF_NAME", "CI_COMMIT_BRANCH"), "CI_COMMIT_SHA", {"run_url": "CI_JOB_URL"}
    ),
)


def find_ci_run(environ: Environ) -> CiRun | None:
    """What the CI system says of this run. None where there is none."""
    system = next((system for system in SYSTEMS if environ.get(system.marker, "") not in ("", "false")), None)
    if system is None:
        return None
    ref = next((environ[name] for name in system.refs if environ.get(name)), None)
    ref = None if ref is None else strip_ref(ref, is_jenkins=system.name == "jenkins")
    named = {"commit_sha": system.commit, **system.annotations}
    found = {"ci_platform": system.name} | {
        name: environ[variable] for name, variable in named.items() if environ.get(variable)
    }
    if "github_run_id" in found and environ.get("GITHUB_SERVER_URL") and "github_repository" in found:
        found["github_run_url"] = (
            f"{environ['GITHUB_SERVER_URL']}/{found['github_repository']}/actions/runs/{found['github_run_id']}"
        )
    has_base = bool(system.base and environ.get(system.pull_request or system.base))
    problem = _distrust(ref, environ.get(system.base, "") if has_base else "", environ)
    return CiRun(None if problem else ref, found, problem)


def strip_ref(ref: str, *, is_jenkins: bool = False) -> str:
    """The branch or the tag of a full ref."""
    for prefix in ("refs/heads/", "refs/tags/", *(("origin/",) if is_jenkins else ())):
        if ref.startswith(prefix) and len(ref) > len(prefix):
            return ref[len(prefix) :]
    return ref


def _distrust(ref: str | None, base: str, environ: Environ) -> str | None:
    """Why the ref of a pull request is not taken: its author chooses the name of its branch, and a branch `main` or
    `v2.0.0` of a fork would move editions of the project."""
    if ref is not None and base and strip_ref(base) == ref:
        return (
            f"the branch of this pull request is named as the one that it is for, {ref!r}; give its build a ref with --git-ref"
        )
    if _is_of_fork(environ):
        return f"this pull request comes from a fork, whose branch is named {ref!r}; give its build a ref with --git-ref"
    return None


def _is_of_fork(environ: Environ) -> bool:
    """GitHub's description of the event names both repositories."""
    if any(environ.get(flag, "").lower() not in ("", "false") for flag in FORK_FLAGS):
        return True
    if any(environ.get(head) and _names_differ(environ[head], environ.get(base, "")) for head, base in FORK_PAIRS):
        return True
    path = environ.get("GITHUB_EVENT_PATH", "")
    if not path or not environ.get("GITHUB_HEAD_REF"):
        return False
    try:
        event = json.loads(Path(path).read_text(encoding="utf-8"))
        sides = [(event["pull_request"][side]["repo"] or {}).get("full_name") for side in ("head", "base")]
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return False
    return sides[0] != sides[1]


def _names_differ(head: str, base: str) -> bool:
    """Of one repository they may be addresses for different protocols."""
    return repository_name(head) != repository_name(base)


def read_annotations(given: list[str]) -> dict[str, str]:
    """`-a NAME=VALUE`, repeated."""
    read: dict[str, str] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise InvalidArgument(f"-a {text!r} is not NAME=VALUE")
        read[name.strip()] = value
    return read
