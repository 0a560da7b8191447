"""Comparison: units beside the other ones, and what is wrong with those that deviate."""
