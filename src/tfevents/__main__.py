"""`python -m tfevents` is the `tfevents` command."""

from __future__ import annotations

import sys

from tfevents.cli import main

if __name__ == "__main__":
    sys.exit(main())
