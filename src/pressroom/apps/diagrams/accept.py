"""The Accept header of a request."""

MOST = 50  # media types of one header that are looked at


def media_type_weights(accept: str) -> dict[str, float]:
    """The media types with their weights (`q`). A weight that cannot be read counts as none given."""
    found = {}
    for part in accept.lower().split(",")[:MOST]:
        media_type, *parameters = (piece.strip() for piece in part.split(";"))
        if media_type:
            found[media_type] = next((_parse_weight(one.removeprefix("q=")) for one in parameters if one.startswith("q=")), 1.0)
    return found


def media_types_by_weight(accept: str) -> list[str]:
    """The media types that are accepted, those of the greatest weight first."""
    weighed = media_type_weights(accept)
    return sorted((media_type for media_type, weight in weighed.items() if weight > 0), key=lambda one: -weighed[one])


def _parse_weight(text: str) -> float:
    try:
        return min(1.0, max(0.0, float(text)))
    except ValueError:
        return 1.0
