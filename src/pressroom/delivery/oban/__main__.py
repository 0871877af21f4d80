"""`python -m pressroom.delivery.oban uninstall postgresql://…`: the way back to another delivery."""

import asyncio
import sys

from pressroom.delivery.oban import uninstall

if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] != "uninstall":
        sys.exit(__doc__)
    asyncio.run(uninstall(sys.argv[2]))
