"""`pressroom docs` on a database: from an organisation to editions, their history and what was deleted."""

import json
import shutil
import subprocess
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run, _patient, give, give_on_database

__all__ = ["_patient", "give", "give_on_database"]

EXAMPLE = Path(__file__).parents[3] / "examples" / "docs"
NAMES = ("ORG", "PROJECT", "URL", "API", "TOKEN")
MARKERS = ("CI", "GITHUB_ACTIONS", "GITLAB_CI", "GITEA_ACTIONS", "FORGEJO_ACTIONS", "JENKINS_URL", "TF_BUILD")


@pytest.fixture
def run(give_on_database: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    for name in (*(f"{start}_{name}" for start in ("PRESSROOM", "DOCVERSE") for name in NAMES), *MARKERS):
        monkeypatch.delenv(name, raising=False)
    for version in ("1.0", "2.0"):
        shutil.copytree(EXAMPLE / version, tmp_path / version)
    return partial(give_on_database, "docs")


@pytest.fixture
def guide(run: Run) -> Run:
    """With a project whose address follows releases."""
    assert run("init", "acme")[:2] == (0, "the organisation acme was made\n")
    assert run("project", "acme/guide", "--main-mode", "semver_release")[:2] == (0, "the project acme/guide was made\n")
    return run


def parse(printed: tuple[int, str, str]) -> Any:
    assert printed[0] == 0, printed[2]
    return json.loads(printed[1])


def upload(run: Run, folder: str, *arguments: str) -> dict[str, Any]:
    done: dict[str, Any] = parse(run("upload", folder, "--project", "guide", "--json", *arguments))
    return done


def test_two_versions_are_published_and_rolled_back(guide: Run) -> None:
    planned = parse(guide("upload", "1.0", "--project", "guide", "--git-ref", "v1.0.0", "--dry-run", "--json"))
    first = upload(guide, "1.0", "--git-ref", "v1.0.0", "-a", "commit_sha=abc")
    code, out, err = guide("upload", "2.0", "--project", "acme/guide", "--git-ref", "v2.0.0")
    again = upload(guide, "2.0", "--git-ref", "v2.0.0")
    editions = {one["slug"]: one for one in parse(guide("editions", "guide", "--json"))}

    assert {one["slug"]: one["action"] for one in planned["editions"]} == {"__main": "move", "1": "create", "1.0": "create"}
    assert first["uploaded"]
    assert first["build"]["annotations"] == {"commit_sha": "abc"}
    assert sorted(one["slug"] for one in first["editions"]) == ["1", "1.0", "__main"]
    assert code == 0
    assert out.startswith(f"build {again['build']['id']} of v2.0.0: completed, 4 files, 1.7 KB\nEDITION  ADDRESS\n")
    assert [line in err for line in ("tracking", "  __main: published\n", "  2.0: published\n", "dashboard")] == [True] * 4
    assert not again["uploaded"]  # Q20: nothing changed, so nothing was sent
    assert again["build"]["number"] == 2
    assert {slug: one["build"] for slug, one in editions.items()} == {
        "__main": again["build"]["id"],
        "2": again["build"]["id"],
        "2.0": again["build"]["id"],
        "1": first["build"]["id"],
        "1.0": first["build"]["id"],
    }
    assert editions["1"]["published_url"] == "http://127.0.0.1:8001/acme/guide/v/1/"

    assert guide("compare", "guide", "1", "2")[1].splitlines()[0] == "+ upgrade.html"
    rolled = guide("rollback", "guide", "__main", "--wait")
    main = next(one for one in parse(guide("editions", "guide", "--json")) if one["slug"] == "__main")
    history = parse(guide("history", "guide", "__main", "--json"))
    shown = parse(guide("build", first["build"]["id"], "--files", "--json"))

    assert rolled[0] == 0
    assert (main["build"], main["pinned"]) == (first["build"]["id"], True)
    assert [line["trigger"] for line in history] == ["rollback", "build", "build"]
    assert sorted(file["path"] for file in shown["files"]) == ["index.html", "install.html", "style.css"]
    assert sorted(shown["editions"]) == ["1", "1.0", "__main"]


def test_the_ref_comes_from_the_working_tree(guide: Run, tmp_path: Path) -> None:
    git = ("git", "-c", "user.name=Anna", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=feature/x")
    subprocess.run([*git, "init", "-q"], cwd=tmp_path, check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "begin"], cwd=tmp_path, check=True)

    plan = parse(guide("upload", "1.0", "--project", "guide", "--dry-run", "--json"))

    assert plan["git_ref"] == "feature/x"
    assert len(plan["annotations"]["commit_sha"]) == 40
    assert [(one["slug"], one["action"]) for one in plan["editions"]] == [("feature-x", "create")]


def test_what_is_missing_is_made_only_if_asked(run: Run) -> None:
    nothing = run("upload", "1.0", "--project", "guide", "--git-ref", "main")
    run("init", "acme")
    missing = run("upload", "1.0", "--project", "acme/guide", "--git-ref", "main")
    made = run("upload", "1.0", "--project", "other/guide", "--git-ref", "main", "--create", "--no-wait")

    assert (nothing[0], "`pressroom docs init ORG` makes one" in nothing[2]) == (2, True)
    assert (missing[0], "with --create the upload makes what is missing" in missing[2]) == (6, True)
    assert (made[0], " is uploaded, and waits to be processed by job_" in made[1]) == (0, True)
    assert [org["slug"] for org in parse(run("orgs", "--json"))] == ["acme", "other"]


def test_an_organisation_and_a_project_are_made_or_changed(run: Run) -> None:
    rules = '[{"type": "ignore", "glob": "dependabot/*"}]'
    run("init", "acme", "--title", "Acme", "--base-domain", "docs.example.org", "--set", f"slug_rewrite_rules={rules}")
    again = run("init", "acme")
    changed = run("init", "acme", "--url-scheme", "subdomain", "--private")
    org = parse(run("show", "acme", "--json"))
    made = run("project", "acme/guide", "--source", "https://example.org/guide")
    main = run("project", "acme/guide", "--main-ref", "trunk")
    project = parse(run("show", "acme/guide", "--json"))
    edition = parse(run("editions", "acme/guide", "--json"))[0]

    assert again[1] == "the organisation acme is there already\n"
    assert changed[1] == "the organisation acme was changed\n"
    assert (org["title"], org["url_scheme"], org["is_private"]) == ("Acme", "subdomain", True)
    assert org["slug_rewrite_rules"] == json.loads(rules)
    assert (made[1], main[1]) == ("the project acme/guide was made\n", "the project acme/guide was changed\n")
    assert project["source_url"] == "https://example.org/guide"
    assert project["published_url"] == "https://guide.docs.example.org/"
    assert edition["tracking_params"] == {"git_ref": "trunk"}
    assert run("preview-slug", "dependabot/npm")[1].startswith("no edition; the organisation's rules: ")
    assert parse(run("preview-slug", "feature/x", "--project", "guide", "--json"))["edition_slug"] == "feature-x"
    assert parse(run("projects", "--json"))["total"] == 1


def test_editions_are_made_pinned_deleted_and_restored(guide: Run) -> None:
    build = upload(guide, "1.0", "--git-ref", "v1.0.0")["build"]["id"]
    assert guide("edition", "create", "guide", "lts", "--tracking-mode", "semver_major", "--major", "1")[0] == 0
    assert guide("edition", "pin", "guide", "lts", "--build", build, "--wait")[0] == 0
    lts = next(one for one in parse(guide("editions", "guide", "--json")) if one["slug"] == "lts")
    assert guide("edition", "unpin", "guide", "lts")[0] == 0
    assert guide("edition", "change", "guide", "lts", "--title", "Long term", "--exempt")[0] == 0
    in_use = guide("delete", "build", build)
    stays = guide("edition", "delete", "guide", "__main")
    assert guide("edition", "delete", "guide", "lts", "--reason", "too old")[0] == 0
    (entry,) = parse(guide("purgatory", "list", "--json"))
    restored = guide("purgatory", "restore", entry["id"])
    after = next(one for one in parse(guide("editions", "guide", "--json")) if one["slug"] == "lts")

    assert (lts["build"], lts["pinned"]) == (build, True)
    assert (in_use[0], "[build_in_use]" in in_use[2]) == (2, True)
    assert (stays[0], "[main_edition]" in stays[2]) == (7, True)
    assert (entry["what"], entry["name"], entry["reason"]) == ("edition", "lts", "too old")
    assert restored[1] == "the edition lts was restored\n"
    assert (after["build"], after["title"], after["lifecycle_exempt"], after["pinned"]) == (build, "Long term", True, False)


def test_projects_and_organisations_are_deleted(guide: Run) -> None:
    in_use = guide("delete", "org", "acme")
    assert guide("delete", "project", "guide")[:2] == (0, "the project acme/guide was deleted\n")
    gone = guide("editions", "guide")
    (entry,) = parse(guide("purgatory", "list", "--json"))
    assert guide("purgatory", "restore", entry["id"])[0] == 0

    assert (in_use[0], "[org_in_use]" in in_use[2]) == (2, True)
    assert gone[0] == 6
    assert guide("editions", "guide")[0] == 0


def test_lifecycle_rules_are_tried_before_they_are_used(guide: Run, tmp_path: Path) -> None:
    upload(guide, "1.0", "--git-ref", "feature/x")
    upload(guide, "2.0", "--git-ref", "feature/x")
    (tmp_path / "rules.json").write_text('[{"type": "build_history_orphan", "min_position": 1, "min_age_days": 0}]')

    now = parse(guide("lifecycle", "--dry-run", "--json"))
    (planned,) = parse(guide("lifecycle", "acme", "--dry-run", "--rules", "rules.json", "--json"))
    guide("init", "acme", "--set", "lifecycle_rules=@rules.json")
    ran = guide("lifecycle", "--wait")
    builds = parse(guide("builds", "guide", "--json"))
    (entry,) = parse(guide("purgatory", "list", "--json"))

    assert now == []
    assert (planned["what"], planned["rule"], planned["project"]) == ("build", "build_history_orphan", "guide")
    assert ran[0] == 0
    assert builds["total"] == 1
    assert entry["what"] == "build"


def test_credentials_are_written_and_never_shown(guide: Run, tmp_path: Path) -> None:
    secret = {"access_key_id": "AKIDEXAMPLE", "secret_access_key": "canary-of-the-secret"}
    (tmp_path / "secret.json").write_text(json.dumps(secret))
    config = ("--set", "endpoint=https://s3.example.org", "--set", "bucket=docs")

    guide("keys", "rotate")  # on a server there is no key before
    printed = [
        guide("credentials", "add", "store", "--provider", "s3", "--from", "secret.json"),
        guide("credentials", "list"),
        guide("credentials", "list", "--json"),
        guide("services", "add", "bucket", "--provider", "minio", "--credential", "store", *config),
        guide("services", "list"),
        guide("keys", "rotate"),
        guide("enqueue", "credential_rewrap", "--wait"),
        guide("credentials", "list"),
    ]
    in_use = guide("credentials", "delete", "store")
    guide("services", "delete", "bucket")
    deleted = guide("credentials", "delete", "store")

    assert [one[0] for one in printed] == [0] * len(printed)
    assert "canary" not in "".join(out + err for _, out, err in printed)
    assert printed[1][1].splitlines()[1].split()[:2] == ["store", "s3"]
    versions = [int(said.splitlines()[1].split()[2]) for _, said, _ in (printed[1], printed[-1])]
    assert versions[1] == versions[0] + 1
    assert in_use[0] == 2
    assert deleted[:2] == (0, "the credential store was deleted\n")


def test_a_folder_of_versions_is_imported(run: Run, tmp_path: Path) -> None:
    (tmp_path / "versions").mkdir()
    for version in ("1.0", "2.0"):
        (tmp_path / version).rename(tmp_path / "versions" / version)
    (tmp_path / "versions" / "latest").symlink_to("2.0")

    code, out, _ = run("import", "versions", "--project", "acme/guide", "--create")
    editions = {one["slug"]: one["build"] for one in parse(run("editions", "guide", "--json"))}
    nothing = run("import", "nowhere", "--project", "guide")

    assert code == 0
    assert [line.split(",")[0] for line in out.splitlines()] == ["1.0: imported", "2.0: imported", "latest: an alias"]
    assert editions["latest"] == editions["2.0"] == editions["__main"] != editions["1.0"]
    assert (nothing[0], "there is no such folder" in nothing[2]) == (2, True)
    assert run("search", "guide", "nowhere-to-be-found")[0] == 0


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("upload", "nowhere", "--project", "guide", "--git-ref", "main"), 2, "there is no such folder"),
        (("upload", "1.0", "--git-ref", "main"), 2, "say which project"),
        (("upload", "1.0", "--project", "a/b/c", "--git-ref", "main"), 2, "is not a project"),
        (("upload", "1.0", "--project", "guide", "--git-ref", "a..b"), 2, "'a..b'"),
        (("upload", "1.0", "--project", "guide", "--git-ref", "main", "-a", "x"), 2, "is not NAME=VALUE"),
        (("upload", "1.0", "--project", "guide", "--server", "http://a", "--git-ref", "x"), 2, "cannot go together"),
        (("project", "acme/guide", "--set", "colour=red"), 2, "colour"),
        (("project", "acme/Wrong_Slug"), 2, "a to z, 0 to 9"),
        (("project", "other/guide"), 6, "there is no such organisation"),
        (("edition", "create", "guide", "lts", "--tracking-mode", "semver_major"), 2, "major_version"),
        (("edition", "change", "guide", "__main"), 2, "say what to change"),
        (("rollback", "guide", "__main"), 2, "has shown no other build"),
        (("build", "nope"), 6, "no such build"),
        (("compare", "guide", "1", "2"), 6, "no such"),
        (("init", "acme", "--set", 'lifecycle_rules=[{"type": "x"}]'), 2, "lifecycle_rules[0]"),
        (("enqueue", "build_processing"), 2, "invalid choice"),
        (("templates", "get", "acme"), 6, "template"),
        (("templates", "set", "acme", "file:///etc"), 2, "[git_address_refused]"),
        (("lifecycle", "acme"), 2, "go with --dry-run"),
    ],
)
def test_what_is_wrong_is_said(guide: Run, arguments: tuple[str, ...], code: int, said: str) -> None:
    ended, out, err = guide(*arguments)

    assert (ended, out) == (code, "")
    assert said in err
    assert "Traceback" not in err


def test_an_archive_that_cannot_be_unpacked_is_an_invalid_source(guide: Run, tmp_path: Path) -> None:
    (tmp_path / "1.0" / ("x" * 200) / ("y" * 200)).mkdir(parents=True)
    (tmp_path / "1.0" / "a\\b.html").write_text("a name that no site may have")

    code, out, err = guide("upload", "1.0", "--project", "guide", "--git-ref", "main")

    assert code == 3
    assert ": failed" in out
    assert "[source_invalid]" in err
