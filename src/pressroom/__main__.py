import sys

from pressroom.wiring import main

sys.exit(main())
