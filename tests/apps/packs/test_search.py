"""Search over packs: both databases find the same."""

from functools import partial

from pressroom.apps.packs import search
from tests.apps.packs.conftest import Stage, Staging


async def found(stage: Stage, text: str, **fields: str) -> list[str]:
    listed = await stage.http.get("/packs", params={"q": text, **fields})
    assert listed.status_code == 200, listed.text
    return [pack["title"] for pack in listed.json()["items"]]


async def test_words_of_title_user_session_and_data_are_found(staged: Staging) -> None:
    """R41: whatever their case and accents, newest first, and only packs of the own organisation."""
    async with staged(workers=None) as stage:
        await stage.new_pack(data={"person": {"name": "Zoë Müller"}, "items": [{"price": 41.5}]}, title="Offer", user="u-17")
        pack = await stage.new_pack(data={"person": {"name": "Max"}}, title="Second offer", session_id="spring")
        await stage.new_pack(stage.client("red"), {"person": {"name": "Zoe"}}, title="Red's")

        assert await found(stage, "offer") == ["Second offer", "Offer"]
        assert await found(stage, "ZOE mull") == ["Offer"]
        assert await found(stage, "u 17") == ["Offer"]
        assert await found(stage, "spring") == ["Second offer"]
        assert await found(stage, "41") == ["Offer"]
        assert await found(stage, "person") == []  # the name of a field
        assert await found(stage, "!?") == []
        assert await found(stage, "offer", user="u-17") == ["Offer"]
        assert await found(stage, "offer", status="ready") == []

        await stage.http.put(f"/packs/{pack}/data", json={"data": {"person": {"name": "Ida"}}})
        assert await found(stage, "max") == []
        assert await found(stage, "ida") == ["Second offer"]
        await stage.http.delete(f"/packs/{pack}")
        assert await found(stage, "ida") == []


async def test_packs_of_an_older_database_are_added_to_the_index(staged: Staging) -> None:
    async with staged(workers=None) as stage:
        for number in range(3):
            await stage.new_pack(data={"name": f"old{number}"}, title=f"Pack {number}")
        async with stage.app.packs.database.transaction() as tx:
            await tx.execute("DELETE FROM packs_text")
        assert await found(stage, "old1") == []

        await stage.app.packs.index_for_search()

        assert await found(stage, "old1") == ["Pack 1"]
        rows = await stage.app.packs.database.read(partial(search.search_titles, "", ["pack"], 10))
        assert [title for _, title in rows] == ["Pack 2", "Pack 1", "Pack 0"]
