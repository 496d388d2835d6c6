"""The command ``bidilel``: the program itself."""

from __future__ import annotations

import signal
import sys

from . import _bidilel


def main() -> None:
    """Run the program with the arguments of the command line."""
    # The program handles signals itself: an interrupt ends it at once, and leaves nothing half-written. One that is ignored,
    # as of a command in the background, stays so.
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(_bidilel.main(["bidilel", *sys.argv[1:]]))


if __name__ == "__main__":
    main()
