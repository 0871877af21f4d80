import sys

from pressroom.command import main

sys.exit(main())
