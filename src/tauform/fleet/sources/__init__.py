"""Sources: the logs of a fleet by unit, and how each of them becomes a recording."""
