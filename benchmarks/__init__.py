"""Benchmarks: one file `bench_<name>.py` each, measured side by side with a peer in one run.

Such a file defines TITLE, one sentence, and `rows()`, which yields `Row`s. `python -m benchmarks [name ...]` runs
them, prints a table and rewrites their sections of RESULTS.md; sections that were not run are kept.
"""
