"""Rust as a target."""
