"""What jobs are about, in words of bounded length."""

BYTES = 250


def subject_of(text: str) -> str:
    """Cut at the limit of a job's subject, between two letters."""
    data = text.encode()
    return text if len(data) <= BYTES else data[: BYTES - 3].decode(errors="ignore") + "…"
