"""Terms of closed forms: products of functions of the coordinates, their evaluation and spelling, echelon form."""
