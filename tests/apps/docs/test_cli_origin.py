"""Where a build comes from: the flags, the environment of CI systems, and real git repositories."""

import json
import subprocess
from pathlib import Path

import pytest

from pressroom.apps.docs.commands.ci_systems import find_ci_run, read_annotations
from pressroom.apps.docs.commands.origin import find_origin
from pressroom.apps.docs.commands.working_tree import read_working_tree, without_password
from pressroom.errors import InvalidArgument

GITHUB = {
    "CI": "true",
    "GITHUB_ACTIONS": "true",
    "GITHUB_REF": "refs/tags/v2.0.0",
    "GITHUB_REF_NAME": "v2.0.0",
    "GITHUB_HEAD_REF": "",
    "GITHUB_BASE_REF": "",
    "GITHUB_SHA": "9f" * 20,
    "GITHUB_SERVER_URL": "https://github.com",
    "GITHUB_REPOSITORY": "acme/guide",
    "GITHUB_RUN_ID": "77",
    "GITHUB_RUN_ATTEMPT": "1",
    "GITHUB_WORKFLOW": "docs",
    "GITHUB_ACTOR": "anna",
    "GITHUB_EVENT_NAME": "push",
}
PULL = GITHUB | {
    "GITHUB_REF_NAME": "5/merge",
    "GITHUB_REF": "refs/pull/5/merge",
    "GITHUB_HEAD_REF": "fix",
    "GITHUB_BASE_REF": "main",
}


def git(folder: Path, *arguments: str) -> str:
    person = ("-c", "user.name=Anna", "-c", "user.email=anna@example.org", "-c", "init.defaultBranch=main")
    return subprocess.run(["git", *person, *arguments], cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    git(folder, "init", "-q")
    git(folder, "commit", "-q", "--allow-empty", "-m", "begin")
    (folder / "site").mkdir()
    monkeypatch.chdir(folder)
    return folder


def test_github_actions_says_ref_commit_and_run() -> None:
    run = find_ci_run(GITHUB)

    assert run is not None
    assert run.git_ref == "v2.0.0"
    assert run.annotations == {
        "ci_platform": "github-actions",
        "commit_sha": "9f" * 20,
        "github_repository": "acme/guide",
        "github_run_id": "77",
        "github_run_url": "https://github.com/acme/guide/actions/runs/77",
        "github_run_attempt": "1",
        "github_workflow": "docs",
        "github_actor": "anna",
        "github_event_name": "push",
    }


@pytest.mark.parametrize(
    ("environ", "platform", "ref"),
    [
        (PULL, "github-actions", "fix"),
        (GITHUB | {"GITEA_ACTIONS": "true"}, "gitea", "v2.0.0"),
        (
            {"CI": "true", "GITLAB_CI": "true", "CI_COMMIT_REF_NAME": "feature/x", "CI_COMMIT_SHA": "a"},
            "gitlab-ci",
            "feature/x",
        ),
        ({"GITLAB_CI": "true", "CI_COMMIT_REF_NAME": "v1", "CI_COMMIT_TAG": "v1"}, "gitlab-ci", "v1"),
        (
            {
                "GITLAB_CI": "true",
                "CI_COMMIT_REF_NAME": "refs/merge-requests/1/head",
                "CI_MERGE_REQUEST_SOURCE_BRANCH_NAME": "fix",
                "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main",
            },
            "gitlab-ci",
            "fix",
        ),
        ({"CI": "woodpecker", "CI_WORKFLOW_NAME": "docs", "CI_COMMIT_BRANCH": "main"}, "woodpecker", "main"),
        ({"DRONE": "true", "DRONE_TAG": "", "DRONE_BRANCH": "main"}, "drone", "main"),
        ({"CIRCLECI": "true", "CIRCLE_TAG": "v3", "CIRCLE_SHA1": "a"}, "circleci", "v3"),
        ({"TRAVIS": "true", "TRAVIS_PULL_REQUEST_BRANCH": "fix", "TRAVIS_BRANCH": "main"}, "travis", "fix"),
        ({"BUILDKITE": "true", "BUILDKITE_BRANCH": "main"}, "buildkite", "main"),
        ({"BITBUCKET_BUILD_NUMBER": "5", "BITBUCKET_BRANCH": "main"}, "bitbucket", "main"),
        ({"TF_BUILD": "True", "BUILD_SOURCEBRANCH": "refs/heads/release/2"}, "azure-pipelines", "release/2"),
        ({"JENKINS_URL": "https://ci", "GIT_BRANCH": "origin/main"}, "jenkins", "main"),
        ({"CI": "true", "CI_COMMIT_REF_NAME": "main"}, "ci", "main"),
        ({"CI": "true"}, "ci", None),
    ],
)
def test_each_ci_system_says_its_ref(environ: dict[str, str], platform: str, ref: str | None) -> None:
    run = find_ci_run(environ)

    assert run is not None
    assert (run.annotations["ci_platform"], run.git_ref) == (platform, ref)


def test_without_a_ci_system_there_is_no_run() -> None:
    assert find_ci_run({"CI": "false", "HOME": "/root"}) is None


def test_a_pull_request_from_a_branch_named_main_is_not_main(tmp_path: Path) -> None:
    run = find_ci_run(PULL | {"GITHUB_HEAD_REF": "main"})

    assert run is not None
    assert run.git_ref is None
    with pytest.raises(InvalidArgument, match="named as the one that it is for, 'main'"):
        find_origin(tmp_path, None, {}, PULL | {"GITHUB_HEAD_REF": "main"})
    assert find_origin(tmp_path, "pr-5", {}, PULL | {"GITHUB_HEAD_REF": "main"}).git_ref == "pr-5"


@pytest.mark.parametrize(("pull_request", "believed"), [("5", None), ("", "main")])
def test_drone_names_a_target_for_pushes_too(pull_request: str, believed: str | None) -> None:
    branches = {"DRONE_BRANCH": "main", "DRONE_SOURCE_BRANCH": "main", "DRONE_TARGET_BRANCH": "main"}

    run = find_ci_run({"DRONE": "true", "DRONE_PULL_REQUEST": pull_request, **branches})

    assert run is not None
    assert run.git_ref == believed


@pytest.mark.parametrize(("head", "believed"), [("acme/guide", "v9.0.0"), ("eve/guide", None)])
def test_the_branch_of_a_fork_is_not_believed(tmp_path: Path, head: str, believed: str | None) -> None:
    event = {"pull_request": {"head": {"repo": {"full_name": head}}, "base": {"repo": {"full_name": "acme/guide"}}}}
    (tmp_path / "event.json").write_text(json.dumps(event))

    run = find_ci_run(PULL | {"GITHUB_HEAD_REF": "v9.0.0", "GITHUB_EVENT_PATH": str(tmp_path / "event.json")})

    assert run is not None
    assert run.git_ref == believed


@pytest.mark.parametrize(
    "environ",
    [
        {
            "GITLAB_CI": "true",
            "CI_MERGE_REQUEST_SOURCE_BRANCH_NAME": "v9.0.0",
            "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main",
            "CI_MERGE_REQUEST_SOURCE_PROJECT_ID": "7",
            "CI_MERGE_REQUEST_PROJECT_ID": "1",
        },
        {
            "TRAVIS": "true",
            "TRAVIS_BRANCH": "main",
            "TRAVIS_PULL_REQUEST_BRANCH": "v9.0.0",
            "TRAVIS_PULL_REQUEST_SLUG": "eve/guide",
            "TRAVIS_REPO_SLUG": "acme/guide",
        },
        {
            "BUILDKITE": "true",
            "BUILDKITE_BRANCH": "v9.0.0",
            "BUILDKITE_PULL_REQUEST_REPO": "git://github.com/eve/guide.git",
            "BUILDKITE_REPO": "git@github.com:acme/guide.git",
        },
        {"TF_BUILD": "True", "SYSTEM_PULLREQUEST_SOURCEBRANCH": "refs/heads/v9.0.0", "SYSTEM_PULLREQUEST_ISFORK": "True"},
        {"JENKINS_URL": "https://ci", "CHANGE_BRANCH": "v9.0.0", "CHANGE_FORK": "eve"},
    ],
    ids=lambda environ: next(iter(environ)),
)
def test_no_system_is_believed_about_the_branch_of_a_fork(environ: dict[str, str]) -> None:
    run = find_ci_run(environ)

    assert run is not None
    assert run.git_ref is None
    assert "comes from a fork" in (run.problem or "")


@pytest.mark.parametrize(
    "environ",
    [
        {
            "GITLAB_CI": "true",
            "CI_MERGE_REQUEST_SOURCE_BRANCH_NAME": "topic",
            "CI_MERGE_REQUEST_SOURCE_PROJECT_ID": "1",
            "CI_MERGE_REQUEST_PROJECT_ID": "1",
        },
        {
            "BUILDKITE": "true",
            "BUILDKITE_BRANCH": "topic",
            "BUILDKITE_PULL_REQUEST_REPO": "https://github.com/Acme/guide.git",
            "BUILDKITE_REPO": "git@github.com:acme/guide.git",
        },
        {"TF_BUILD": "True", "SYSTEM_PULLREQUEST_SOURCEBRANCH": "refs/heads/topic", "SYSTEM_PULLREQUEST_ISFORK": "False"},
    ],
    ids=lambda environ: next(iter(environ)),
)
def test_a_pull_request_of_the_repository_itself_is_believed(environ: dict[str, str]) -> None:
    run = find_ci_run(environ)

    assert run is not None
    assert run.git_ref == "topic"


def test_a_working_tree_says_its_branch_and_commit(repository: Path) -> None:
    git(repository, "switch", "-q", "-c", "feature/search")
    git(repository, "remote", "add", "origin", "https://anna:secret@git.example.org/acme/guide.git")

    origin = find_origin(repository / "site", None, {"note": "by hand"}, {})

    assert origin.git_ref == "feature/search"
    assert origin.annotations == {
        "commit_sha": git(repository, "rev-parse", "HEAD"),
        "repository": "https://git.example.org/acme/guide.git",
        "note": "by hand",
    }


@pytest.mark.parametrize("annotate", [True, False])
def test_a_tag_that_is_checked_out_is_the_ref(repository: Path, annotate: bool) -> None:
    git(repository, "tag", *(("-a", "-m", "two") if annotate else ()), "v2.0.0")
    git(repository, "pack-refs", "--all")
    git(repository, "commit", "-q", "--allow-empty", "-m", "more")
    git(repository, "checkout", "-q", "v2.0.0")

    assert find_origin(repository / "site", None, {}, {}).git_ref == "v2.0.0"


def test_two_tags_or_none_are_asked_about(repository: Path) -> None:
    git(repository, "checkout", "-q", "--detach")
    with pytest.raises(InvalidArgument, match="not on a branch; say --git-ref"):
        find_origin(repository / "site", None, {}, {})

    git(repository, "tag", "v2.0.0")
    git(repository, "tag", "stable")

    with pytest.raises(InvalidArgument, match=r"is at the tags stable, v2\.0\.0"):
        find_origin(repository / "site", None, {}, {})


def test_a_repository_without_a_commit_has_a_branch(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")

    tree = read_working_tree(tmp_path)

    assert tree is not None
    assert (tree.branch, tree.commit) == ("main", None)


def test_a_partial_clone_says_its_branch(repository: Path) -> None:
    """As `git clone --filter=blob:none` leaves it."""
    git(repository, "config", "core.repositoryformatversion", "1")
    git(repository, "config", "extensions.partialClone", "origin")

    tree = read_working_tree(repository)

    assert tree is not None
    assert tree.branch == "main"


def test_a_tag_whose_object_a_clone_lacks_is_no_tag_of_the_commit(repository: Path) -> None:
    git(repository, "tag", "v1.0.0")
    git(repository, "checkout", "-q", "--detach")
    (repository / ".git" / "refs" / "tags" / "lost").write_text("1" * 40 + "\n")

    tree = read_working_tree(repository)

    assert tree is not None
    assert tree.ref() == "v1.0.0"


@pytest.mark.parametrize("config", ["[core]\nrepositoryformatversion = 1\n[extensions]\nofTheFuture = true\n", "[core\n"])
def test_a_repository_that_cannot_be_read_needs_a_ref_and_no_more(repository: Path, config: str) -> None:
    (repository / ".git" / "config").write_text(config)

    with pytest.raises(InvalidArgument, match=r"cannot be read .*--git-ref"):
        find_origin(repository, None, {}, {})
    assert find_origin(repository, "main", {}, {}).git_ref == "main"


def test_a_linked_worktree_has_its_own_branch(repository: Path, tmp_path: Path) -> None:
    git(repository, "worktree", "add", "-q", "-b", "other", str(tmp_path / "other"))

    tree = read_working_tree(tmp_path / "other")

    assert tree is not None
    assert (tree.branch, tree.commit) == ("other", git(repository, "rev-parse", "HEAD"))


def test_the_site_may_lie_outside_of_the_repository(repository: Path, tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()

    assert find_origin(tmp_path / "site", None, {}, {}).git_ref == "main"


def test_two_repositories_are_asked_about(repository: Path, tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    git(tmp_path / "site", "init", "-q")

    with pytest.raises(InvalidArgument, match="are two repositories"):
        find_origin(tmp_path / "site", None, {}, {})


def test_a_ref_that_was_given_says_nothing_of_the_commit(repository: Path) -> None:
    assert find_origin(repository / "site", "v9", {}, {}).annotations == {}
    assert "commit_sha" in find_origin(repository / "site", "main", {}, {}).annotations


def test_without_git_the_ref_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    with pytest.raises(InvalidArgument, match="say --git-ref REF"):
        find_origin(tmp_path, None, {}, {})


def test_annotations_are_names_and_values() -> None:
    assert read_annotations(["a=1", "b=x=y", "c="]) == {"a": "1", "b": "x=y", "c": ""}
    with pytest.raises(InvalidArgument, match="is not NAME=VALUE"):
        read_annotations(["a"])


@pytest.mark.parametrize(
    ("address", "plain"),
    [
        ("https://x:y@host/a", "https://host/a"),
        ("git@host:a/b.git", "git@host:a/b.git"),
        ("ssh://git@host/a", "ssh://git@host/a"),
        ("ssh://git:y@host/a", "ssh://git@host/a"),
        ("/srv/git/a", "/srv/git/a"),
    ],
)
def test_passwords_are_taken_out_of_addresses(address: str, plain: str) -> None:
    assert without_password(address) == plain
