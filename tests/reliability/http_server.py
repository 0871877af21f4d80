"""`python -m tests.reliability.http_server NAIVE serve …`: the command line of Pressroom, spoiled first if a way is named."""

import sys

from pressroom import cli, command
from tests.reliability import http_naive

if __name__ == "__main__":
    _, naive, *argv = sys.argv
    if naive:
        getattr(http_naive, naive)()
    sys.exit(cli.main(command._Wires(), argv))
