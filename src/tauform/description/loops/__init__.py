"""Joints that follow others: linear relations, functions given as text, and loops that are solved."""
