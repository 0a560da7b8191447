"""Other tools called from Python on the same arm: one module each, with `peer(robot)`, which returns a `Peer`.

A peer gets its states before the clock starts, in whatever layout it likes best, and is timed from there to an array.
"""
