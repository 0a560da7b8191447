"""Everything that the package writes: each file and folder is there as a whole or not at all."""
