"""Numbers of arguments."""

from argparse import ArgumentParser, ArgumentTypeError

MOST = 10_000


def add_limit_argument(parser: ArgumentParser, default: int, most: int = MOST) -> None:
    def parse_limit(text: str) -> int:
        if not (text.isascii() and text.isdigit() and len(text) < 10 and 1 <= int(text) <= most):
            raise ArgumentTypeError(f"{text!r} is not a whole number from 1 to {most:,}")
        return int(text)

    parser.add_argument("--limit", type=parse_limit, default=default, metavar="N", help=f"how many (default: {default})")
