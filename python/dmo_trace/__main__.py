"""The command ``dmo-trace``."""

from __future__ import annotations

import sys

from ._native import main as native_main


def main() -> int:
    """Runs the command line, and returns its exit code."""
    return native_main(["dmo-trace", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
