"""Fleets: many robots of one kind, their logs condensed on many machines, compared with each other and over time."""
