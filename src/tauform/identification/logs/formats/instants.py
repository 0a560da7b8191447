"""Time stamps that are written as dates or times of day: 2026-03-01T23:59:50.125, 23:59:50.125."""

from __future__ import annotations

from datetime import UTC, datetime, time


def is_stamp(text: str) -> bool:
    """Whether a text is a date with a time, or a time of day."""
    try:
        seconds_of(text)
    except ValueError:
        return False
    # Numbers are no dates, though 20260301 could be read as one.
    return ":" in text


def seconds_of(text: str) -> float:
    """Seconds since 1970 of a date with a time (of UTC, unless it says its zone), or since midnight of a time of day.

    Raises:
        ValueError: neither.
    """
    text = text.strip().strip("\"'").replace("/", "-")
    if len(text) > 10 and text[4:5] == "-":
        instant = datetime.fromisoformat(text)
        return (instant if instant.tzinfo else instant.replace(tzinfo=UTC)).timestamp()
    at = time.fromisoformat(text)
    return 3600.0 * at.hour + 60.0 * at.minute + at.second + 1e-6 * at.microsecond
