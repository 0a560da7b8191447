"""fleet.toml: robots, keys, tools and how logs are read are said once, and what is no setting is refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import tauform as tf
from fleet.simulated_fleet import arm, samples, write
from tauform.cli import main
from tauform.errors import TauformError
from tauform.fleet.sources.dataset import Dataset
from tauform.fleet.sources.keys import moment

# 1 March 2026.
MARCH = 1772323200.0


def told(root: Path, text: str) -> Path:
    (root / "fleet.toml").write_text(text, encoding="utf-8")
    return root


def test_the_robot_comes_from_the_data_set(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for k in range(3):
        write(tmp_path / f"A{k}" / "1.csv", samples(arm(k), k))
    tf.load("two_link").save(tmp_path / "arm.toml")
    for named in ("arm.toml", "two_link"):
        told(tmp_path, f'robot = "{named}"\n')
        assert main(["fleet", str(tmp_path), "--workers", "0", "--json"]) == 0
        assert sorted(unit["unit"] for unit in json.loads(capsys.readouterr().out)["units"]) == ["A0", "A1", "A2"]
    told(tmp_path, "")
    assert main(["fleet", str(tmp_path), "--workers", "0"]) == 2
    assert "no robot is given" in capsys.readouterr().err
    assert main(["fleet", "two_link", "more", str(tmp_path)]) == 2
    assert "expected [ROBOT] DATASET" in capsys.readouterr().err


def test_several_robots_are_a_fleet_each(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("pyarrow")
    root = tmp_path / "logs"
    for k in range(2):
        write(root / f"A{k}" / "1.csv", samples(arm(k), k))
        write(root / f"P{k}" / "1.csv", samples(arm(k), k))
    write(root / "X" / "1.csv", samples(arm(5), 5))
    tf.load("two_link").save(root / "other.toml")
    told(root, '[robots]\n"A*" = "two_link"\n"P?" = "other.toml"\n')
    found = tf.identify_fleets(root, workers=0)
    assert {name: list(fleet.units) for name, fleet in found.items()} == {
        "two_link": ["A0", "A1"],
        "other.toml": ["P0", "P1"],
    }
    assert [(unit, file) for unit, file, _ in found["two_link"].excluded] == [("X", "X/1.csv")]
    with pytest.raises(TauformError, match="identify_fleets"):
        tf.identify_fleet(None, root, workers=0)
    assert main(["fleet", str(root), "--workers", "0", "-o", str(tmp_path / "out")]) == 0
    assert "has no line for this unit" in " ".join(capsys.readouterr().out.split())
    assert {path.parent.name for path in tmp_path.glob("out/*/report.html")} == {"two_link", "other"}


def test_units_and_times_are_found_by_pattern_and_by_partition(tmp_path: Path) -> None:
    for place in ("hall1/A7_20260301-0815.csv", "hall2/A7_20260228.csv", "hall1/B.csv"):
        (tmp_path / place).parent.mkdir(exist_ok=True)
        (tmp_path / place).write_text("")
    logs = Dataset.of(told(tmp_path, '[keys]\nfiles = "*/{unit}_{time}"\n'))
    # In the order of time, not of names.
    assert [(file.name, file.start) for file in logs.units["A7"]] == [
        ("hall2/A7_20260228.csv", MARCH - 86400),
        ("hall1/A7_20260301-0815.csv", MARCH + 8.25 * 3600),
    ]
    assert [(file, "does not fit" in why) for _, file, why in logs.excluded] == [("hall1/B.csv", True)]
    parted = tmp_path / "parted"
    for place in ("serial=K1/day=2026-03-01/x.csv", "day=2026-02-28/serial=K1/x.csv", "serial=K1/x.csv"):
        (parted / place).parent.mkdir(parents=True, exist_ok=True)
        (parted / place).write_text("")
    logs = Dataset.of(told(parted, '[keys]\nunit = "serial"\ntime = "day"\n'))
    assert [file.start for file in logs.units["K1"]] == [MARCH - 86400, MARCH]
    assert ["day=" in why for _, _, why in logs.excluded] == [True]


def test_a_clock_that_starts_with_every_log_is_set_by_its_name(tmp_path: Path) -> None:
    for day in (1, 2, 3):
        robot = arm(1) if day < 3 else arm(1, friction=1.4)
        write(tmp_path / f"U_2026030{day}.csv", samples(robot, day))
        write(tmp_path / f"V_2026030{day}.csv", samples(arm(2), 10 + day))
    found = tf.identify_fleet(tf.load("two_link"), told(tmp_path, '[keys]\nfiles = "{unit}_{time}"\n'), workers=0)
    starts = {trend.unit: trend.start.tolist() for trend in found.trends}
    assert starts["U"] == pytest.approx([MARCH, MARCH + 86400, MARCH + 2 * 86400])
    assert {(change.unit, change.at) for change in found.changes} == {("U", MARCH + 2 * 86400)}


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_rows_of_several_units_in_one_log(tmp_path: Path, suffix: str) -> None:
    names = ["robot", "t", "q1", "q2", "tau1", "tau2"]
    # As many digits as `write` keeps.
    tables = {f"A{k}": np.array([[float(f"{x:.9g}") for x in row] for row in samples(arm(k), k)]) for k in range(3)}
    rows = [[unit, *row] for many in zip(*tables.values(), strict=True) for unit, row in zip(tables, many, strict=True)]
    if suffix == "csv":
        lines = "\n".join(",".join(map(str, row)) for row in rows)
        (tmp_path / "day.csv").write_text(",".join(names) + "\n" + lines + "\n")
    else:
        pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
        columns = dict(zip(names, zip(*rows, strict=True), strict=True))
        held = pyarrow.table({name: list(column) for name, column in columns.items()})
        parquet.write_table(held, tmp_path / "day.parquet")
    write(tmp_path / "lost.csv", tables["A0"])
    found = tf.identify_fleet(
        tf.load("two_link"), told(tmp_path, '[keys]\nunit_column = "robot"\n'), workers=0, sample=3
    )
    apart = tmp_path / "apart"
    for unit, table in tables.items():
        write(apart / f"{unit}.csv", table)
    expected = tf.identify_fleet(tf.load("two_link"), apart, workers=0, sample=3)
    assert found.n_windows == expected.n_windows
    for unit in tables:
        np.testing.assert_allclose(found.units[unit].values, expected.units[unit].values, rtol=1e-9)
    assert [(file, "no column 'robot'" in why) for _, file, why in found.excluded] == [("lost.csv", True)]


def test_a_tool_that_is_known_is_no_fault(tmp_path: Path) -> None:
    """From the third recording on U carries a gripper; V carries one that nobody knows of."""
    gripper, robot = {"payload": 0.8}, tf.load("two_link")
    for k in range(4):
        for seed in range(6):
            write(tmp_path / f"A{seed}" / f"{k}.csv", samples(arm(seed), 20 * seed + k, start=1000.0 * k))
        for unit, seed in (("U", 30), ("V", 31)):
            own = arm(seed, **(gripper if k >= 2 else {}))
            write(tmp_path / unit / f"{k}.csv", samples(own, 20 * seed + k, start=1000.0 * k))
    told(tmp_path, '[[tools]]\nunits = "U"\nfrom = 1500\nmass = 0.8\n')
    found = tf.identify_fleet(robot, tmp_path, workers=0)
    assert [unit.unit for unit in found.deviating] == ["V"]
    assert {change.unit for change in found.changes} == {"V"}
    # The model is that of arms without it, whoever is in the sample.
    bare = found.robot_of("U").parameters
    payload = next(trend for trend in found.trends if (trend.unit, trend.value) == ("U", "payload"))
    assert np.abs(payload.values).max() < 4 * payload.deviations.max()
    assert np.isfinite(bare).all()
    told(tmp_path, '[[tools]]\nunits = "U"\nfrom = 2026-03-01\nmass = 0.8\n')
    dated = tf.identify_fleet(robot, tmp_path, workers=0)
    assert {unit for unit, _, why in dated.excluded if "gives tools by date" in why} == {"U"}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("robott = 'a'", "did you mean 'robot'"),
        ("[read]\ncolums = {}", "did you mean 'columns'"),
        ("[read]\npath = 'x'", "does not exist"),
        ("[load]\nallow_code = true", "does not exist"),
        ("[load]\ntipp = 'x'", "did you mean 'tip'"),
        ("[keys]\nunits = 'x'", "did you mean 'unit'"),
        ("[keys]\nunit = 3", "is a text, not 3"),
        ("[keys]\nfiles = '{robot}_{time}'", "placeholder 'robot' does not exist"),
        ("[keys]\nfiles = '{unit}_{unit}'", "once each"),
        ("[[tools]]\nmas = 1", "did you mean 'mass'"),
        ("[[tools]]\nfrom = 3", "say its mass"),
        ("[[tools]]\nmass = -1", "negative mass"),
        ("[[tools]]\nmass = 1\nfrom = 'March'", "is a date"),
        ("[[tools]]\nmass = 1\nfrom = 2026-03-01\nto = 2026-02-01", "ends before it starts"),
        ("[[tools]]\nmass = 1\ninertia = [1, 1, 1, 0, 0, 0]", "inertia_about"),
        ("tools = 3", "begin with [[tools]]"),
        ("robot = 3", "robot is a text"),
        ("robot = 'a'\n[robots]\n'*' = 'b'", 'give robot = "arm.urdf"'),
        ("[robots]\n'*' = 3", 'give robot = "arm.urdf"'),
        ("read = 3", "read is a table"),
        ("robot = ", "Invalid value"),
    ],
)
def test_what_is_no_setting_is_refused_by_a_sentence(tmp_path: Path, text: str, words: str) -> None:
    write(tmp_path / "A.csv", samples(arm(1), 1))
    with pytest.raises(TauformError) as error:
        Dataset.of(told(tmp_path, text))
    assert words in str(error.value)
    assert "fleet.toml" in str(error.value) or "[keys]" in str(error.value)


def test_times_are_read_as_names_of_files_hold_them() -> None:
    for text in ("2026-03-01", "20260301", "2026-03-01T00:00:00Z", "2026-03-01_00-00", "1772323200"):
        assert moment(text) == MARCH, text
    assert moment("01.03.26", "%d.%m.%y") == MARCH
    for text in ("2026-13-01", "yesterday", "123"):
        with pytest.raises(TauformError, match="is no time"):
            moment(text)
