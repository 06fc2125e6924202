"""``python -m pegasus_bb`` is the command pegasus-bb."""

from pegasus_bb.cli import main

main()
