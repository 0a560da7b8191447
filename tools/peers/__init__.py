"""Peers compiled from their C++ headers, so that they run with the same compiler and flags as our C."""
