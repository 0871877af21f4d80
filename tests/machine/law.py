"""How a broken promise is told."""


class Violation(AssertionError):
    """A promise was broken. `law` is its number in reliability.md; `line`, `order`, `frame` and `fsck` are ours:

    line    of a key one runs at a time, and the best of those whose time has come may start
    order   by tier, then place; a place is kept or new, never somebody else's
    frame   a step changes what it is about, and nothing else
    fsck    `pressroom fsck` finds nothing
    beside  claimed alone or beside others, the same jobs come in the same order
    limit   of a limited kind nobody starts another while as many run as may, or more because the limit came later
    named   by its name a job is given if it could be claimed as the best now; for the others it is told when to ask again
    twins   what happens on one database happens on the other
    """

    def __init__(self, law: str, story: str) -> None:
        super().__init__(f"{law}: {story}")
        self.law = law


def demand(kept: bool, law: str, story: str, *facts: object) -> None:
    """`story` is formatted with `facts` only when it has to be told: telling costs more than looking."""
    if not kept:
        raise Violation(law, story.format(*facts))


def law_of(broken: BaseException) -> str:
    """The law that a store has broken, or `guard` if the database itself refused."""
    return broken.law if isinstance(broken, Violation) else "guard"
