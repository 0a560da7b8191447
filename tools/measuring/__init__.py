"""What benchmarks measure with: clocks, instruction counts, tables of results, and the figures that pages quote."""
