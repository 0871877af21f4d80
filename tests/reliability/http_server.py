"""`python -m tests.reliability.http_server NAIVE serve …`: the command line of Pressroom, spoiled first if a way is named.

A way is a function, such as `tests.reliability.http_naive:write_in_place`.
"""

import pkgutil
import sys

from pressroom.cli.main import main

if __name__ == "__main__":
    _, naive, *argv = sys.argv
    if naive:
        pkgutil.resolve_name(naive)()
    sys.exit(main(argv))
