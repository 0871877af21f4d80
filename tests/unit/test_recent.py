"""Bytes that were asked for lately."""

from pressroom.artifacts.recent_blobs import RecentBlobs


def test_the_oldest_go_when_there_are_too_many() -> None:
    recent = RecentBlobs(10)
    for name in "abc":
        recent.put(name, name.encode() * 4)
    assert [recent.get(name) for name in "abc"] == [None, b"bbbb", b"cccc"]


def test_what_is_asked_for_stays() -> None:
    recent = RecentBlobs(10)
    recent.put("a", b"aaaa")
    recent.put("b", b"bbbb")
    recent.get("a")
    recent.put("c", b"cccc")
    assert [recent.get(name) for name in "abc"] == [b"aaaa", None, b"cccc"]


def test_what_does_not_fit_is_not_held() -> None:
    recent = RecentBlobs(3)
    recent.put("a", b"aaaa")
    assert recent.get("a") is None
