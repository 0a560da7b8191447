"""Keys: which unit a log is of and when it began, told by its place in the data set."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from pathlib import PurePath

from tauform.errors import RecordingError
from tauform.messages import no_such

# Folders of a data set that is partitioned as Hive and Spark do it.
HIVE = re.compile(r"^(?P<key>\w+)=(?P<value>.+)$")
# 2026-03-01, 20260301, 2026-03-01T08:15:00, 20260301_0815, 2026-03-01 08-15-00
DATE = re.compile(r"(\d{4})-?(\d\d)-?(\d\d)(?:[T_ -]?(\d\d)[:-]?(\d\d)(?:[:-]?(\d\d))?)?Z?")
# Seconds since 1970, as long as dates after 2001 are.
SECONDS = re.compile(r"\d{10}(\.\d+)?")
# Stamps before it [s] are no seconds since 1970: a log that starts at zero.
FIRST_DATE = 1e9
# Those logs' clocks are told in hours from here on [s].
LONGEST_IN_SECONDS = 7200.0
PLACEHOLDERS = ("unit", "time")


@dataclass(frozen=True)
class Keys:
    """How unit and time are found.

    Attributes:
        unit, time: keys of partitioned folders, `unit=A7/date=2026-03-01/`.
        files: pattern of the last parts of a log's place without its suffix, `{unit}_{time}`; * stands for anything.
        time_format: of times, as `datetime.strptime` takes it; usual ones need none.
        unit_column: column of each log that holds the unit, where a file has rows of several.
    """

    unit: str = "unit"
    time: str | None = None
    files: str | None = None
    time_format: str | None = None
    unit_column: str | None = None

    def __post_init__(self) -> None:
        if self.files is not None:
            _pattern(self.files)

    def found(self, place: PurePath) -> tuple[str, float | None]:
        """Unit and beginning [s since 1970] of the log at a place.

        Raises:
            RecordingError: the place is not as the keys say.
        """
        held = _partitions(place)
        if self.files is not None:
            tail = place.with_suffix("").parts[-1 - self.files.count("/") :]
            match = _pattern(self.files).fullmatch("/".join(tail))
            if match is None:
                raise RecordingError(f"its name does not fit files = {self.files!r} of [keys]; rename it, or mend that")
            held |= {getattr(self, name) or name: value for name, value in match.groupdict().items()}
        # Without a key: the first folder it lies in, or its own name.
        unit = held.get(self.unit, place.parts[0] if len(place.parts) > 1 else place.stem)
        if self.time is None and self.files is None:
            return unit, _dated(place)
        when = held.get(self.time or "time")
        if when is None and self.time is not None:
            raise RecordingError(f"no folder {self.time}=... holds it, the time key of [keys]; move it into one")
        return unit, None if when is None else moment(when, self.time_format)


def _dated(place: PurePath) -> float | None:
    """The beginning of a log whose name, or a folder below the unit's, is nothing but a date: A7/2026-03-01.csv."""
    for part in reversed((*place.parts[1:-1], place.stem) if len(place.parts) > 1 else ()):
        if DATE.fullmatch(part):
            with suppress(RecordingError):
                return moment(part)
    return None


def _partitions(place: PurePath) -> dict[str, str]:
    """key -> value of the folders that a log lies in, at any depth: year=2024/unit=A7."""
    matches = (HIVE.match(part) for part in place.parts[:-1])
    return {match["key"]: match["value"] for match in matches if match}


def _pattern(text: str) -> re.Pattern[str]:
    """The regular expression of `files`."""
    parts = []
    for word in re.split(r"(\{\w*\}|\*)", text):
        if word == "*" or word == "{}":
            parts.append("[^/]*")
        elif word.startswith("{"):
            if word[1:-1] not in PLACEHOLDERS:
                raise no_such("[keys] files: placeholder", word[1:-1], PLACEHOLDERS)
            # Not greedy: what stands between two of them parts them where it first can.
            parts.append(f"(?P<{word[1:-1]}>[^/]+?)")
        else:
            parts.append(re.escape(word))
    try:
        return re.compile("".join(parts))
    except re.error:
        raise RecordingError(f"files = {text!r} of [keys]: {{unit}} and {{time}} stand in it once each") from None


def moment(text: str, form: str | None = None) -> float:
    """Seconds since 1970 of a time as names of files hold it; UTC, where it says no zone.

    Raises:
        RecordingError: it is none.
    """
    try:
        if form is not None:
            return seconds_of(datetime.strptime(text, form))
        if SECONDS.fullmatch(text):
            return float(text)
        match = DATE.fullmatch(text)
        if match is not None:
            year, month, day, hour, minute, second = (int(part or 0) for part in match.groups())
            return seconds_of(datetime(year, month, day, hour, minute, second))
    # No such day, or another form than was stated.
    except ValueError:
        pass
    remedy = "write it as 2026-03-01 or 2026-03-01T08-15-00, or say time_format in [keys]"
    raise RecordingError(f"{text!r} is no time{'' if form is None else f' of the form {form!r}'}; {remedy}")


def told(at: float) -> str:
    """A moment of the logs' clock in words: a date where it is one."""
    if at < FIRST_DATE:
        return f"{at / 3600:.6g} h" if at >= LONGEST_IN_SECONDS else f"{at:g} s"
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M}"


def seconds_of(when: date) -> float:
    """Seconds since 1970 of a date, or of a date and time."""
    whole = when if isinstance(when, datetime) else datetime.combine(when, time())
    return (whole if whole.tzinfo else whole.replace(tzinfo=UTC)).timestamp()
