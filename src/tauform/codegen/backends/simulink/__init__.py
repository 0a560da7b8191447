"""Simulink as a target: an S-function per program over the plain C, and a script that makes their blocks."""
