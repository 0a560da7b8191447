"""python -m tauform: the command line."""

import sys

from tauform.cli import main

if __name__ == "__main__":
    sys.exit(main())
