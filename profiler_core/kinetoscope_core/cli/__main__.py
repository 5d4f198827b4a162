"""`python -m kinetoscope_core.cli`: the kinetoscope command."""

import sys

from kinetoscope_core.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
