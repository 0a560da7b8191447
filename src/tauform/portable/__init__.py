"""Arithmetic that gives the same bits on every machine: what decides or enters a generated text is computed here.

BLAS and LAPACK sum in an order that depends on the processor, and the sines of NumPy and of the C library differ
between processors in their last bits. Sums, products, quotients and square roots of single numbers (IEEE 754), and
NumPy's loops over them, do not; everything in this folder is made of those, or of integers.
"""
