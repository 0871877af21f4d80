"""Secrets in the database are encrypted: with the right key they are read again, and with anything else they are not."""

import base64
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pressroom.config import Settings
from pressroom.errors import CannotUnseal, StoreUnavailable
from pressroom.sealing import Keyring, keyring_of

KEY, OTHER = "k" * 32, "o" * 43


@given(
    st.text(max_size=200).filter(lambda text: not any("\ud800" <= one <= "\udfff" for one in text)), st.text("ab", max_size=5)
)
def test_what_was_sealed_is_opened_again(text: str, context: str) -> None:
    ring = Keyring([KEY])
    sealed = ring.seal(text, context)

    assert ring.open(sealed, context) == text
    assert sealed.startswith(ring.prefix)
    assert ring.seal(text, context) != sealed, "equal secrets do not look equal"


def test_a_sealed_text_does_not_show_what_it_is() -> None:
    sealed = Keyring([KEY]).seal("whsec_canary", "webhook 1")

    assert "canary" not in sealed
    assert b"canary" not in base64.urlsafe_b64decode(sealed.rpartition(":")[2])


def test_every_change_is_noticed() -> None:
    ring = Keyring([KEY])
    head, _, body = ring.seal("whsec_canary", "webhook 1").rpartition(":")
    data = base64.urlsafe_b64decode(body)
    wrong = [data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :] for place in range(len(data))]
    wrong += [data[:length] for length in range(len(data))]

    for changed in wrong:
        with pytest.raises(CannotUnseal):
            ring.open(f"{head}:{base64.urlsafe_b64encode(changed).decode()}", "webhook 1")
    with pytest.raises(CannotUnseal):
        ring.open(f"{head}:!!", "webhook 1")
    with pytest.raises(CannotUnseal, match="another's"):
        ring.open(f"{head}:{body}", "webhook 2")


def test_another_key_opens_nothing_and_an_old_one_beside_the_new_does() -> None:
    sealed = Keyring([OTHER]).seal("secret", "")

    with pytest.raises(CannotUnseal, match="PRESSROOM_SECRET_KEY"):
        Keyring([KEY]).open(sealed, "")
    both = Keyring([KEY, OTHER])
    assert both.open(sealed, "") == "secret"
    assert both.seal("secret", "").startswith(Keyring([KEY]).prefix)


def test_without_a_key_text_is_stored_as_it_is() -> None:
    ring = Keyring()

    assert not ring.can_seal
    assert ring.open(ring.seal("secret", ""), "") == "secret" == ring.seal("secret", "")


def test_the_format_does_not_change_unnoticed() -> None:
    """What a release has written, later ones must read."""
    stored = "sealed:1:93dac202:AAAAAAAAAAAAAAAAAAAAAGjABYqmQHVRMnKf-i1n0qGsuVy8bPa80iRMMQCMhA1hSGwzIES1"

    assert Keyring([KEY]).open(stored, "webhook 1") == "secret"


def test_a_key_is_made_when_it_is_first_needed_and_only_our_user_reads_it(tmp_path: Path) -> None:
    file = tmp_path / "press.key"
    first, second = Keyring(file=file, creates=True), Keyring(file=file, creates=True)

    assert first.can_seal
    assert first.open("plain", "") == "plain"
    assert not file.exists()
    sealed = first.seal("secret", "")
    assert second.open(sealed, "") == "secret"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert Keyring([file.read_text().strip()]).open(sealed, "") == "secret", "the setting may take the file's place"
    assert [one.name for one in tmp_path.iterdir()] == ["press.key"]


@pytest.mark.parametrize("content", [b"", b"short", b"\xff" * 40])
def test_a_key_that_is_none_is_told(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "press.key").write_bytes(content)

    with pytest.raises(StoreUnavailable, match=r"press\.key"):
        Keyring(file=tmp_path / "press.key", creates=True).seal("secret", "")


def test_where_the_key_comes_from(tmp_path: Path) -> None:
    on_file = Settings(database=f"sqlite:///{tmp_path}/press.db")
    in_memory = Settings(database="sqlite:///:memory:")
    on_server = Settings(database="postgresql://a@b/c", home=str(tmp_path))

    assert on_file.key_file == tmp_path / "press.key"
    assert [keyring_of(one).can_seal for one in (on_file, in_memory, on_server)] == [True, False, False]
    (tmp_path / "pressroom.key").write_text(OTHER)
    assert keyring_of(on_server).can_seal, "the key of a database that was promoted"
    assert any("secret_key" in problem for problem in Settings(secret_key=("short",)).problems())
    assert KEY not in repr(Settings(secret_key=(KEY,)))
