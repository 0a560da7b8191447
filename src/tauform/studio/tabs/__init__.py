"""One tab of the studio per file."""
