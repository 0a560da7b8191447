"""Benchmarks: one file `bench_<name>.py` each, measured side by side with a peer in one run.

Such a file defines TITLE, one sentence, and `rows()`, which yields `Row`s. `python -m benchmarks [name ...]` runs each
in a process of its own, prints every row, rewrites its section of RESULTS.md, draws plots of the tables and renews the
figures that the README quotes; sections that were not run are kept. What they measure with is in `tools/measuring/`.
"""
