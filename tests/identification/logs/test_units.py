"""Units in names of columns: those that are not SI are refused, whatever field they stand in."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tauform as tf
from identification.logs.log_files import ROBOT as NAME
from identification.logs.log_files import log, table
from tauform.errors import RecordingError
from tauform.identification.recording.recording import TIME_UNITS

ROBOT = tf.load(NAME)
HEADER = "t,q1,q2,tau1,tau2,qd1,qd2"


def named(path: Path, field: str, unit: str) -> Path:
    """A log whose columns of one field carry a unit."""
    names = [f"{name} {unit}" if name.rstrip("12") == field else name for name in HEADER.split(",")]
    table(path, velocities=True, header=",".join(names))
    return path


# Unit in a name -> how many SI units it is; NaN where nobody knows.
OTHERS = {
    "q": {"deg": np.pi / 180, "mrad": 1e-3, "rev": 2 * np.pi, "turns": 2 * np.pi, "°": np.pi / 180, "MRAD": 1e-3},
    "qd": {"rpm": np.pi / 30, "deg/s": np.pi / 180, "rev/s": 2 * np.pi, "mrad/s": 1e-3},
    "tau": {
        "mNm": 1e-3, "Ncm": 1e-2, "Nmm": 1e-3, "kNm": 1e3, "ozin": 0.00706155, "lbft": 1.35582, "lbin": 0.112985,
        "inlb": 0.112985, "kgcm": 0.0980665, "kgfcm": 0.0980665, "MNM": 1e-3,
    },
}  # fmt: skip
UNSAID = {"q": ("counts", "ticks", "inc"), "qd": ("counts/s", "ticks/s"), "tau": ("%", "counts")}


@pytest.mark.parametrize(("field", "unit"), [(field, unit) for field, several in OTHERS.items() for unit in several])
def test_other_units_are_refused_by_name_until_told(field: str, unit: str, tmp_path: Path) -> None:
    for written in (f"[{unit}]", f"( {unit} )"):
        path = named(tmp_path / "a.csv", field, written)
        said = rf"column '{field}1 .*is in another unit by its name.*units={{'{field}'"
        with pytest.raises(RecordingError, match=said):
            tf.read_recording(path, ROBOT)
        read = getattr(tf.read_recording(path, ROBOT, units={field: unit}), field)
        np.testing.assert_allclose(read, OTHERS[field][unit] * log()[field], rtol=1e-5, atol=1e-12)


@pytest.mark.parametrize(("field", "unit"), [(field, unit) for field, several in UNSAID.items() for unit in several])
def test_units_that_only_the_device_knows_are_refused(field: str, unit: str, tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match=rf"column '{field}1 .*is in another unit by its name.*; convert"):
        tf.read_recording(named(tmp_path / "a.csv", field, f"[{unit}]"), ROBOT)


def test_units_are_words_however_they_are_joined(tmp_path: Path) -> None:
    for unit in ("N mm", "N·mm", "N*mm", "N.mm", "mN m", "oz-in"):
        with pytest.raises(RecordingError, match="another unit by its name"):
            tf.read_recording(named(tmp_path / "a.csv", "tau", f"[{unit}]"), ROBOT)


@pytest.mark.parametrize(("field", "unit"), [("tau", "Nm"), ("tau", "N m"), ("q", "rad"), ("qd", "rad/s"), ("t", "s")])
def test_si_is_read(field: str, unit: str, tmp_path: Path) -> None:
    tf.read_recording(named(tmp_path / "a.csv", field, f"[{unit}]"), ROBOT)


def test_gains_take_any_unit_and_times_their_own(tmp_path: Path) -> None:
    path = named(tmp_path / "a.csv", "tau", "[mNm]")
    assert tf.read_recording(path, ROBOT, gains=[1e-3, 1e-3]).n_samples > 0
    for unit, (word, _) in TIME_UNITS.items():
        path = named(tmp_path / "a.csv", "t", f"[{unit}]")
        other = "ns" if unit == "s" else "s"
        with pytest.raises(
            RecordingError, match=rf"'t \[{unit}\]' is in {word} by its name; read it with time_unit='{unit}'"
        ):
            tf.read_recording(path, ROBOT, time_unit=other)


FAHRENHEIT = (9 / 5, 32 - 9 / 5 * 273.15)  # of a kelvin
HEATED = {"[K]": (1, 0), "[ kelvin ]": (1, 0), "_K": (1, 0), "[degF]": FAHRENHEIT, "[°F]": FAHRENHEIT}


def heated(path: Path, ending: str, written: np.ndarray) -> Path:
    """A log with temperatures, whose columns end in this."""
    names = ",".join(f"temperature{k}{ending}" for k in (1, 2))
    columns = np.column_stack([log()["t"], log()["q"], log()["tau"], written])
    np.savetxt(path, columns, delimiter=",", header=f"t,q1,q2,tau1,tau2,{names}", comments="")
    return path


@pytest.mark.parametrize("unit", HEATED)
def test_temperatures_in_other_units_are_refused_until_told(unit: str, tmp_path: Path) -> None:
    celsius = np.linspace([20.0, 25.0], [60.0, 45.0], len(log()["t"]))
    factor, zero = HEATED[unit]
    path = heated(tmp_path / "a.csv", unit, factor * (celsius + 273.15) + zero)
    columns = {"temperature": [f"temperature{k}{unit}" for k in (1, 2)]}
    with pytest.raises(RecordingError, match=r"column 'temperature1.*another unit by its name.*units={'temperature'"):
        tf.read_recording(path, ROBOT, columns=columns)
    word = unit.strip("[]_ ")
    for told in ({"temperature": word}, word):
        read = tf.read_recording(path, ROBOT, columns=columns, units=told).temperature
        np.testing.assert_allclose(read, celsius, rtol=1e-9)


def test_temperatures_that_can_only_be_kelvin_are_refused(tmp_path: Path) -> None:
    kelvin = np.full((len(log()["t"]), 2), 296.0)
    path = heated(tmp_path / "a.csv", "", kelvin)
    with pytest.raises(RecordingError, match=r"never below 296 degrees Celsius.*units={'temperature': 'K'}"):
        tf.read_recording(path, ROBOT)
    np.testing.assert_allclose(tf.read_recording(path, ROBOT, units={"temperature": "K"}).temperature, 22.85)
    for ending in (" [°C]", " [deg]", "_degC"):
        path = heated(path, ending, kelvin - 273.15)
        columns = {"temperature": [f"temperature{k}{ending}" for k in (1, 2)]}
        np.testing.assert_allclose(tf.read_recording(path, ROBOT, columns=columns).temperature, 22.85)
