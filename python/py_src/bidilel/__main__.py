"""``python -m bidilel`` is the command ``bidilel``."""

from ._command import main

main()
