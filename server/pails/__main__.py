"""`python -m pails` is `pails`."""

import sys

from pails.entry import main

sys.exit(main())
