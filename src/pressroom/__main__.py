"""The program `pressroom`. With JSON logs the hooks are in place before anything else is imported, since that may fail too."""

import sys

from pressroom import config
from pressroom.cli import process_output


def main() -> int:
    argv = sys.argv[1:]
    asks_for_help = not {"-h", "--help"}.isdisjoint(argv)
    if config.find_log_format(argv) == "json" and not asks_for_help:
        process_output.start_json_output(argv[0] if argv else None)
    from pressroom.cli.main import main as run_command

    return run_command(argv)


if __name__ == "__main__":
    sys.exit(main())
