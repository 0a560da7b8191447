"""Written C on processors that are not here: cross-compiled, run in QEMU, its instructions and its stack counted."""
