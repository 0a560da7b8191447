"""Guaranteed bounds of the rounding errors of a program over a box of states."""
