"""Where S3 credentials come from when the settings have none. The endpoints of AWS are fakes: see tests/fake_aws.py."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pressroom.artifacts.aws_credentials import _sts_address, find_credentials
from pressroom.artifacts.credentials import Credentials
from pressroom.errors import S3CredentialsFailed, S3CredentialsMissing
from tests.fake_aws import CONTAINER_TOKEN, ROLE, WEB_TOKEN, FakeAws, fake_aws, made_up_keys
from tests.servers import free_ports

EXPIRES = datetime(2030, 1, 1, 12, 0, tzinfo=UTC)
TEMPORARY = ("ASIAFAKE", "a-made-up-s3cret", "a-made-up-t0ken+/=", EXPIRES.timestamp())
NO_METADATA = {"AWS_EC2_METADATA_DISABLED": "true"}


@pytest.fixture
def aws() -> Iterator[FakeAws]:
    with fake_aws(made_up_keys(EXPIRES)) as fake:
        yield fake


@pytest.fixture
def shared_file(tmp_path: Path) -> Path:
    path = tmp_path / "credentials"
    path.write_text(
        "[default]\naws_access_key_id = AKIADEFAULT\naws_secret_access_key = default-s3cret%\n\n"
        "[staging]\naws_access_key_id=AKIASTAGING\naws_secret_access_key=staging-s3cret\naws_session_token=staging-t0ken\n\n"
        "[by-role]\nrole_arn = arn:aws:iam::1:role/x\nsource_profile = default\n"
        "[half]\naws_access_key_id = AKIAHALF\n"
    )
    return path


@pytest.fixture
def everything(aws: FakeAws, shared_file: Path, tmp_path: Path) -> dict[str, str]:
    """An environment in which every source is set up."""
    token = tmp_path / "token"
    token.write_text(f"{WEB_TOKEN}\n")
    return {
        "AWS_ACCESS_KEY_ID": "AKIAENV",
        "AWS_SECRET_ACCESS_KEY": "env-s3cret",
        "AWS_SHARED_CREDENTIALS_FILE": str(shared_file),
        "AWS_WEB_IDENTITY_TOKEN_FILE": str(token),
        "AWS_ROLE_ARN": "arn:aws:iam::1:role/press",
        "AWS_ENDPOINT_URL_STS": aws.address,
        "AWS_CONTAINER_CREDENTIALS_FULL_URI": f"{aws.address}/container",
        "AWS_CONTAINER_AUTHORIZATION_TOKEN": CONTAINER_TOKEN,
        "AWS_EC2_METADATA_SERVICE_ENDPOINT": aws.address,
    }


def find(environ: dict[str, str]) -> Credentials:
    return find_credentials(environ, "eu-central-1")


def values_of(found: Credentials) -> tuple[object, ...]:
    return found.access_key, found.secret_key, found.session_token, found.expires_at


def test_the_sources_are_asked_in_the_usual_order(everything: dict[str, str], shared_file: Path) -> None:
    origins = []
    for last in (
        "AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY",
        "AWS_SHARED_CREDENTIALS_FILE",
        "AWS_WEB_IDENTITY_TOKEN_FILE",
        "AWS_CONTAINER_CREDENTIALS_FULL_URI",
        "AWS_EC2_METADATA_SERVICE_ENDPOINT",
    ):
        origins.append(find(everything).origin)
        for name in last.split():
            del everything[name]

    assert origins == [
        "the environment (AWS_ACCESS_KEY_ID)",
        f"the profile default of {shared_file}",
        "the role arn:aws:iam::1:role/press, by web identity",
        "the container's credentials endpoint",
        f"the role {ROLE} of this instance",
    ]


def test_the_environment_may_have_a_session_token_and_its_expiry() -> None:
    environ = {"AWS_ACCESS_KEY_ID": "AKIA", "AWS_SECRET_ACCESS_KEY": "s3cret"}
    assert values_of(find(environ)) == ("AKIA", "s3cret", None, None)

    environ |= {"AWS_SESSION_TOKEN": "t0ken", "AWS_CREDENTIAL_EXPIRATION": "2030-01-01T12:00:00+00:00"}
    assert values_of(find(environ)) == ("AKIA", "s3cret", "t0ken", EXPIRES.timestamp())


def test_a_profile_of_the_shared_file_is_named_or_the_default(shared_file: Path, tmp_path: Path) -> None:
    environ = {"AWS_SHARED_CREDENTIALS_FILE": str(shared_file)}
    assert values_of(find(environ)) == ("AKIADEFAULT", "default-s3cret%", None, None)
    assert values_of(find(environ | {"AWS_PROFILE": "staging"})) == ("AKIASTAGING", "staging-s3cret", "staging-t0ken", None)

    (tmp_path / ".aws").mkdir()
    shared_file.rename(tmp_path / ".aws" / "credentials")
    assert find({"HOME": str(tmp_path)}).access_key == "AKIADEFAULT"


def test_a_role_is_assumed_by_web_identity(aws: FakeAws, everything: dict[str, str]) -> None:
    environ = {name: value for name, value in everything.items() if name.startswith(("AWS_WEB", "AWS_ROLE", "AWS_ENDPOINT"))}

    assert values_of(find(environ)) == TEMPORARY

    (form,) = aws.forms
    assert form["Action"] == "AssumeRoleWithWebIdentity"
    assert (form["RoleArn"], form["RoleSessionName"]) == ("arn:aws:iam::1:role/press", "pressroom")


@pytest.mark.parametrize(
    ("environ", "address"),
    [
        ({}, "https://sts.eu-central-1.amazonaws.com/"),
        ({"AWS_REGION": "cn-north-1"}, "https://sts.cn-north-1.amazonaws.com.cn/"),
        ({"AWS_DEFAULT_REGION": "us-west-2"}, "https://sts.us-west-2.amazonaws.com/"),
        ({"AWS_ENDPOINT_URL_STS": "https://sts.example.org"}, "https://sts.example.org"),
    ],
)
def test_sts_is_asked_in_its_region(environ: dict[str, str], address: str) -> None:
    assert _sts_address(environ, "eu-central-1") == address


@pytest.mark.parametrize("in_file", [False, True])
def test_a_container_is_asked_with_its_token(aws: FakeAws, tmp_path: Path, in_file: bool) -> None:
    environ = {"AWS_CONTAINER_CREDENTIALS_FULL_URI": f"{aws.address}/container"}
    if in_file:
        (tmp_path / "token").write_text(f"{CONTAINER_TOKEN}\n")
        environ["AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"] = str(tmp_path / "token")
    else:
        environ["AWS_CONTAINER_AUTHORIZATION_TOKEN"] = CONTAINER_TOKEN

    assert values_of(find(environ)) == TEMPORARY


def test_an_instance_is_asked_by_version_two(aws: FakeAws) -> None:
    assert values_of(find({"AWS_EC2_METADATA_SERVICE_ENDPOINT": f"{aws.address}/"})) == TEMPORARY

    assert aws.requests[0] == "PUT /latest/api/token"


def test_metadata_is_not_asked_through_a_proxy(aws: FakeAws, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{free_ports(1)[0]}")
    assert find({"AWS_EC2_METADATA_SERVICE_ENDPOINT": aws.address}).access_key == "ASIAFAKE"


def test_metadata_that_is_switched_off_is_not_asked(aws: FakeAws) -> None:
    with pytest.raises(S3CredentialsMissing, match="AWS_EC2_METADATA_DISABLED"):
        find({"AWS_EC2_METADATA_SERVICE_ENDPOINT": aws.address} | NO_METADATA)
    assert aws.requests == []


def test_a_machine_without_a_role_has_none(aws: FakeAws) -> None:
    aws.has_role = False
    for address in (aws.address, f"http://127.0.0.1:{free_ports(1)[0]}"):
        with pytest.raises(S3CredentialsMissing, match="no instance with a role"):
            find({"AWS_EC2_METADATA_SERVICE_ENDPOINT": address})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"AWS_ACCESS_KEY_ID": ""}, "AWS_ACCESS_KEY_ID is not set"),
        ({"AWS_SECRET_ACCESS_KEY": ""}, "AWS_SECRET_ACCESS_KEY is not set"),
        ({"AWS_CREDENTIAL_EXPIRATION": "tomorrow"}, "is not a time with a time zone"),
        ({"AWS_CREDENTIAL_EXPIRATION": "2030-01-01T12:00:00"}, "is not a time with a time zone"),
    ],
)
def test_an_environment_that_makes_no_sense_is_told(changes: dict[str, str], message: str) -> None:
    with pytest.raises(S3CredentialsFailed, match=message) as failed:
        find({"AWS_ACCESS_KEY_ID": "AKIA", "AWS_SECRET_ACCESS_KEY": "s3cret"} | NO_METADATA | changes)
    assert "s3cret" not in str(failed.value)


@pytest.mark.parametrize("profile", ["missing", "by-role", "half"])
def test_a_profile_without_keys_is_told_and_no_other_identity_is_taken(
    everything: dict[str, str], profile: str, aws: FakeAws
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        del everything[name]
    with pytest.raises(S3CredentialsFailed, match=profile):
        find(everything | {"AWS_PROFILE": profile})
    assert aws.requests == []


def test_a_file_that_is_no_credentials_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "credentials").write_text("aws_secret_access_key = s3cret\n")
    with pytest.raises(S3CredentialsFailed, match="MissingSectionHeaderError") as failed:
        find({"AWS_SHARED_CREDENTIALS_FILE": str(tmp_path / "credentials")} | NO_METADATA)
    assert "s3cret" not in str(failed.value)


def test_sts_that_refuses_is_told_by_its_code(everything: dict[str, str], tmp_path: Path) -> None:
    environ = {name: value for name, value in everything.items() if name.startswith(("AWS_WEB", "AWS_ROLE", "AWS_ENDPOINT"))}
    (tmp_path / "token").write_text("another-s3cret")
    with pytest.raises(S3CredentialsFailed, match="InvalidIdentityToken") as failed:
        find(environ)
    assert "s3cret" not in str(failed.value)

    (tmp_path / "token").unlink()
    with pytest.raises(S3CredentialsFailed, match="cannot be read: FileNotFoundError"):
        find(environ)
    del environ["AWS_ROLE_ARN"]
    with pytest.raises(S3CredentialsFailed, match="AWS_ROLE_ARN is not set"):
        find(environ)


@pytest.mark.parametrize(
    ("uri", "message"),
    [
        ("http://credentials.example.org/", "plain HTTP is for this machine"),
        ("ftp://127.0.0.1/", "plain HTTP is for this machine"),
        ("NOWHERE", "does not answer: ConnectionRefusedError"),
        ("FAKE/container", "HTTP 403"),
    ],
)
def test_a_container_endpoint_that_fails_is_told_and_metadata_is_not_asked(aws: FakeAws, uri: str, message: str) -> None:
    uri = uri.replace("NOWHERE", f"http://127.0.0.1:{free_ports(1)[0]}").replace("FAKE", aws.address)
    environ = {"AWS_EC2_METADATA_SERVICE_ENDPOINT": aws.address, "AWS_CONTAINER_CREDENTIALS_FULL_URI": uri}
    with pytest.raises(S3CredentialsFailed, match=message):
        find(environ | {"AWS_CONTAINER_AUTHORIZATION_TOKEN": "a-wrong-token"})
    assert "PUT /latest/api/token" not in aws.requests


def test_answers_without_keys_are_told(aws: FakeAws) -> None:
    environ = {
        "AWS_CONTAINER_CREDENTIALS_FULL_URI": f"{aws.address}/container",
        "AWS_CONTAINER_AUTHORIZATION_TOKEN": CONTAINER_TOKEN,
    }
    for wrong in ({"Expiration": "soon"}, {"Expiration": ""}, {"Token": ""}, {"AccessKeyId": ""}):
        aws.keys = made_up_keys(EXPIRES) | wrong
        with pytest.raises(S3CredentialsFailed) as failed:
            find(environ)
        assert "s3cret" not in str(failed.value)

    aws.is_failing = True
    with pytest.raises(S3CredentialsFailed, match="HTTP 500"):
        find(environ)
    with pytest.raises(S3CredentialsFailed, match="HTTP 500"):
        find({"AWS_EC2_METADATA_SERVICE_ENDPOINT": aws.address})


@pytest.mark.parametrize("token", ["two\nlines", "a\x01b"])
def test_a_token_of_the_container_that_is_no_line_of_text_is_sent_nowhere(token: str) -> None:
    (port,) = free_ports(1)
    environ = {
        "AWS_CONTAINER_CREDENTIALS_FULL_URI": f"http://127.0.0.1:{port}/container",
        "AWS_CONTAINER_AUTHORIZATION_TOKEN": token,
    }

    with pytest.raises(S3CredentialsFailed, match="no single line of text"):
        find(environ | NO_METADATA)
