"""Names of strangers through every artefact: each still parses or compiles, and shows the name or holds it exactly.

The written files are read by what reads them elsewhere: compilers, make, tomllib, ElementTree, csv, an HTML parser.
"""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
import yaml

import tauform as tf
from fleet.simulated_fleet import arm, samples
from fleet.simulated_fleet import write as write_log
from hostile_names import NAMES, WORST, renamed
from sampling import in_turns
from tauform.cli import main
from tauform.cli.progress import ProgressBar, ProgressLines
from tauform.codegen.backends.registry import TARGETS, backend
from tauform.codegen.conventions import conventions
from tauform.codegen.program.program import Program
from tauform.codegen.runtime.kernel import compile_program
from tauform.errors import DescriptionError, TauformError
from tauform.escaping.markup import beyond_xml
from tauform.escaping.shown import visible
from tauform.escaping.tables import toml_string
from tauform.identification.motion.trajectory import Trajectory, quintic
from tauform.pipeline.model_robot import model_robot
from tauform.pipeline.robot_model import RobotModel
from tauform.report.html.document import plotly_script

COMPILERS = [name for name in ("gcc", "clang") if shutil.which(name)]
WARNINGS = "-std=c99 -Wall -Wextra -Wpedantic -Werror -Wtrigraphs"
LANGUAGES = sorted(set(TARGETS) - {"c"})
HALF = "half a character"
# Files that hold names of joints, as what reads them sees them.
NAMING_JOINTS: dict[str, Callable[[str], object]] = {
    "controllers.yaml": lambda text: yaml.safe_load(text)["gravity_compensation"]["ros__parameters"]["joints"],
}
each_name = pytest.mark.parametrize("name", NAMES.values(), ids=list(NAMES))


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A working folder where a name that is run as a command would leave a file `pwned`."""
    monkeypatch.chdir(tmp_path)
    yield
    assert [path for path in (tmp_path.parent / "pwned", *tmp_path.rglob("pwned")) if path.exists()] == []


def is_tame(text: str) -> bool:
    """Whether a terminal prints this and does nothing else."""
    return all(letter == "\n" or letter.isprintable() for letter in text)


@cache
def program() -> Program:
    return tf.generate(tf.load("two_link"), "gravity_torque")


def named_program(robot: tf.Robot) -> Program:
    """The program that `generate` makes of this robot, without another search: names enter it here only."""
    return _named(program(), robot)


def _named(found: Program, robot: tf.Robot) -> Program:
    about = replace(found.about, conventions=conventions(robot), joints=robot.joint_names)
    return replace(found, robot=robot.name, about=about)


@cache
def called(target: str) -> list[Program]:
    """What the target's interface calls of a robot without friction."""
    names = [name for name in backend(target).functions if name not in ("friction", "gravity_torque")]
    return [tf.generate(tf.load("two_link"), name) for name in names]


def named_programs(robot: tf.Robot, target: str) -> list[Program]:
    return [named_program(robot), *(_named(found, robot) for found in called(target))]


def test_names_enter_programs_in_three_places_only() -> None:
    robot = renamed(tf.load("two_link"), WORST)
    assert tf.generate(robot, "gravity_torque").about == named_program(robot).about
    assert tf.generate(robot, "gravity_torque").robot == WORST


def without_comments(text: str) -> str:
    """Source as a compiler's preprocessor leaves it; directives stay."""
    command = [COMPILERS[0], "-fpreprocessed", "-dD", "-E", "-P", "-x", "c", "-"]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout


def assert_those_of_a_plain_name(paths: list[Path], folder: Path) -> None:
    """Comments and README alone may differ from the folder of a robot with a plain name."""
    commented: list[tuple[str, str]] = []
    for path in paths:
        found = path.read_text(encoding="utf-8")
        plain = (folder.parent / "plain" / path.relative_to(folder)).read_text(encoding="utf-8")
        assert is_tame(found.replace("\t", ""))
        if path.suffix in (".c", ".h", ".hpp", ".cl", ".cu") and COMPILERS:
            commented.append((found, plain))
        elif path.name != "README.md":
            assert found == plain
    if commented:  # a comment that does not end swallows the next file
        found, plain = (without_comments("\n;\n".join(texts)) for texts in zip(*commented, strict=True))
        assert found == plain


@pytest.mark.parametrize(("key", "compiler"), in_turns(NAMES, ("gcc", "clang")))
def test_c_is_that_of_any_other_name(key: str, compiler: str, tmp_path: Path) -> None:
    """Folders are the same but for the prefix, and compilers warn of nothing."""
    if compiler not in COMPILERS:
        pytest.skip(f"{compiler} is not installed")
    paths = tf.write_c(named_program(renamed(tf.load("two_link"), NAMES[key])), tmp_path / "c", batch=True)
    prefix = next(path.stem for path in paths if path.suffix == ".h")
    tf.write_c(named_program(tf.load("two_link")), tmp_path / "plain", batch=True, name=prefix)
    assert_those_of_a_plain_name(paths, tmp_path / "c")
    sources = [str(path) for path in paths if path.suffix == ".c"]
    subprocess.run([compiler, *WARNINGS.split(), "-fsyntax-only", *sources], check=True)


@pytest.mark.parametrize(("key", "target"), in_turns(NAMES, LANGUAGES))
def test_other_languages_are_those_of_any_other_name(key: str, target: str, tmp_path: Path) -> None:
    assert_a_language_is_that_of_any_other_name(NAMES[key], target, tmp_path)


@pytest.mark.parametrize("target", LANGUAGES)
def test_every_language_takes_the_worst_name(target: str, tmp_path: Path) -> None:
    assert_a_language_is_that_of_any_other_name(WORST, target, tmp_path)


def assert_a_language_is_that_of_any_other_name(name: str, target: str, folder: Path) -> None:
    """Texts are the same but for comments in C and C++."""
    robot = renamed(tf.load("two_link"), name)
    paths = tf.write(named_programs(robot, target), folder / "out", target=target)
    prefix = backend(target).prefix(None, name)
    tf.write(named_programs(tf.load("two_link"), target), folder / "plain", target=target, name=prefix)
    assert_those_of_a_plain_name([path for path in paths if path.name not in NAMING_JOINTS], folder / "out")
    for path in paths:
        if path.name in NAMING_JOINTS:
            assert NAMING_JOINTS[path.name](path.read_text(encoding="utf-8")) == list(robot.joint_names)


@cache
def fit() -> tf.Fit:
    """Friction of a two-link arm."""
    return tf.identify(tf.load("two_link"), tf.Recording(*measured()), friction="quadratic", couplings=None)


def measured() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Times, positions and torques of a two-link arm whose friction grows with the square of the velocity."""
    t, rate = np.arange(0.0, 10.0, 0.01), np.array([2.0, 3.1])
    phase = np.outer(t, rate)
    q, qd, qdd = np.sin(phase), rate * np.cos(phase), -(rate**2) * np.sin(phase)
    tau = tf.inverse_dynamics(tf.load("two_link"), q, qd, qdd) + 0.5 * qd * np.abs(qd)
    return t, q, tau + np.random.default_rng(0).normal(0, 0.01, q.shape)


@each_name
def test_toml_holds_the_names(name: str, tmp_path: Path) -> None:
    robot = renamed(tf.load("two_link"), name)
    robot.save(tmp_path / "robot.toml")
    read = tf.load(tmp_path / "robot.toml")
    if name == NAMES[HALF]:
        robot = renamed(tf.load("two_link"), visible(name))
    assert read == robot


@each_name
def test_urdf_holds_the_names_or_is_refused(name: str, tmp_path: Path) -> None:
    robot, path = renamed(tf.load("two_link"), name), tmp_path / "robot.urdf"
    if beyond_xml(name) is not None:
        with pytest.raises(
            DescriptionError, match=r"a URDF cannot hold the character .*; rename it, or save .* as \.toml"
        ):
            robot.save(path)
        assert not path.exists()
        return
    robot.save(path)
    root = ElementTree.parse(path).getroot()
    assert root.get("name") == name
    assert [joint.get("name") for joint in root.findall("joint")][:2] == [name, f"{name}2"]
    assert tf.load(path).joint_names == robot.joint_names


def trajectory(names: tuple[str, ...]) -> Trajectory:
    return quintic([[0.0, 0.0], [0.5, -0.3]], [1.0], 20.0, names)


@each_name
def test_tables_of_motions_read_back(name: str, tmp_path: Path) -> None:
    robot, path = renamed(tf.load("two_link"), name), tmp_path / "motion.csv"
    motion = trajectory(robot.joint_names)
    motion.save_csv(path)
    with path.open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    assert (len(header), len(rows)) == (7, len(motion.t))
    assert header[1:3] == [visible(f"q_{joint}") for joint in robot.joint_names]
    assert is_tame(path.read_text(encoding="utf-8"))
    np.testing.assert_array_equal(Trajectory.read_csv(path, robot).q, motion.q)


class Elements(HTMLParser):
    """Tags, attributes and texts of a page; scripts apart."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.texts: list[str] = []
        self.scripts: list[str] = []
        self.attributes: set[str] = set()
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes |= {key for key, _ in attributes}

    def handle_data(self, data: str) -> None:
        (self.scripts if self.tags and self.tags[-1] == "script" else self.texts).append(data)


def page_of(robot: tf.Robot, folder: Path) -> str:
    """A motion's page, without the library that draws."""
    whole = trajectory(robot.joint_names).plot(folder / "motion.html", robot).read_text(encoding="utf-8")
    return whole.replace(plotly_script(), "")


@pytest.fixture(scope="module")
def plain_page(tmp_path_factory: pytest.TempPathFactory) -> Elements:
    return Elements(page_of(tf.load("two_link"), tmp_path_factory.mktemp("plain")))


@each_name
def test_pages_hold_no_element_of_a_name(name: str, plain_page: Elements, tmp_path: Path) -> None:
    text = page_of(renamed(tf.load("two_link"), name), tmp_path)
    found = Elements(text)
    assert found.tags == plain_page.tags
    assert found.attributes == plain_page.attributes
    assert f"Motion of {visible(name)}" in found.texts
    data = [json.loads(text) for text in found.scripts if text.startswith("{")]
    assert data
    assert data[0]["panels"][0]["name"] == visible(name)
    assert is_tame(text.replace("\t", ""))


@pytest.mark.parametrize("suffix", ["png", "svg"])
@pytest.mark.filterwarnings("ignore:Glyph")  # fonts do not have every letter
def test_pictures_are_drawn(suffix: str, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    robot = renamed(tf.load("two_link"), NAMES["latex"] + NAMES[HALF] + NAMES["escape sequences"] + NAMES["xml"])
    path = trajectory(robot.joint_names).plot(tmp_path / f"motion.{suffix}", robot)
    if suffix == "svg":
        ElementTree.parse(path)


@each_name
def test_the_command_line_prints_names_and_obeys_none(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    renamed(tf.load("two_link"), name).save("robot.toml")
    shown = visible(name)
    assert main(["show", "robot.toml", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["name"] in (name, shown)
    assert main(["show", "robot.toml"]) == 0
    out, err = capsys.readouterr()
    assert is_tame(out)
    assert is_tame(err)
    if len(name) < 60:
        assert "".join(shown.split()) in "".join(out.split())


VERBS = (
    "base robot.toml",
    "derive robot.toml",
    "generate robot.toml --functions gravity_torque -o generated",
    "linearize robot.toml -o linear.npz",
    "multirate robot.toml -o rates",
    "reduce robot.toml --route velocity --samples 2000 -o reduced",
    "identify robot.toml LOG --friction plain --no-couplings --code code --report report.html",
    "model robot.toml LOG --friction quadratic --tolerance 0 --functions gravity_torque -o model",
)


def test_every_verb_prints_the_worst_names_and_obeys_none(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Names of the robot and its parts, and of a log; what is written beside is read above."""
    monkeypatch.setattr("tauform.cli.progress.SILENT_SECONDS", 0.0)
    robot, log = renamed(tf.load("two_link"), WORST), NAMES["escape sequences"] + NAMES["rich markup"].replace("/", "")
    robot.save("robot.toml")
    t, q, tau = measured()
    np.savetxt(f"{log}.csv", np.column_stack([t, q, tau]), delimiter=",", header="t,q1,q2,tau1,tau2", comments="")
    for verb in VERBS:
        assert main([f"{log}.csv" if word == "LOG" else word for word in verb.split()]) in (0, 1), verb
        out, err = capsys.readouterr()
        assert is_tame(out), verb
        assert is_tame(err), verb


def refusal_of(call: Callable[[], object]) -> str:
    """What is said where a call is refused."""
    try:
        call()
    except TauformError as error:
        return str(error)
    return ""


@each_name
def test_errors_name_names_and_obey_none(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A robot, a frame, a joint and a file of that name that are not there, or not right."""
    robot = renamed(tf.load("two_link"), name)
    for call in (
        lambda: tf.load(name),
        lambda: robot.frame(f"{name}?"),
        lambda: tf.load("two_link").locked({name: 0.0}),
        lambda: tf.derive(tf.load("two_link"), fixed={name: 0.0}),
        lambda: Trajectory.read_csv(tmp_path / "none.csv", robot),
        lambda: tf.generate(robot, name),
        lambda: tf.write_c(named_program(robot), "c", name=name),
    ):
        assert is_tame(refusal_of(call))
    for word in (name, f"--{name}"):
        assert main(["show", word]) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert is_tame(err)
        assert len(err.splitlines()) <= 2


@pytest.mark.parametrize("name", [WORST, NAMES[HALF]], ids=["worst", HALF])
def test_what_python_prints_obeys_no_name(name: str) -> None:
    robot = renamed(tf.load("two_link"), name)
    model = tf.derive(robot)
    named = named_program(robot)
    fitted = replace(fit(), robot=robot)
    things = (robot, *robot.joints, *robot.frames, model, model.bind(robot), tf.base_parameters(robot), named)
    for thing in (*things, compile_program(named), fitted, fitted.verdict, tf.multirate(robot), *robot.check()):
        assert is_tame(str(thing))
        assert is_tame(repr(thing))


def test_lengths_have_names_that_formulas_can_hold(tmp_path: Path) -> None:
    """Relations are written in them, as text that Python evaluates and as LaTeX."""
    tf.load("two_link").save(tmp_path / "robot.toml")
    text, path = (tmp_path / "robot.toml").read_text(), tmp_path / "hostile.toml"
    length = re.findall(r'lengths = \[\{ name = "(\w+)"', text)[-1]
    for name in filter(lambda name: not name.isidentifier(), NAMES.values()):
        path.write_text(text.replace(f'{{ name = "{length}"', f"{{ name = {toml_string(name)}"), encoding="utf-8")
        with pytest.raises(DescriptionError, match="relations are written in names of lengths; take letters"):
            tf.load(path)


@cache
def worst_model() -> RobotModel:
    return model_robot(renamed(tf.load("two_link"), WORST), functions=("gravity_torque",), tolerance=None)


def test_a_whole_delivery_of_the_worst_name(tmp_path: Path) -> None:
    """All files of `tauform model`, with the C's self-test run by make."""
    made = worst_model().write(tmp_path / "out")
    if shutil.which("make") and shutil.which("cc"):
        (stage,) = [stage for stage in made.stages if stage.name == "C"]
        assert stage.status == "verified"
    page = Elements(made.report.read_text(encoding="utf-8"))
    plain = model_robot(tf.load("two_link"), functions=("gravity_torque",), tolerance=None).write(tmp_path / "plain")
    usual = Elements(plain.report.read_text(encoding="utf-8"))
    assert (set(page.tags), page.tags.count("script")) == (set(usual.tags), usual.tags.count("script"))
    assert page.attributes == usual.attributes
    assert json.loads((tmp_path / "out" / "summary.json").read_text())["robot"] == WORST
    assert tf.load(tmp_path / "out" / "robot.toml").name == WORST
    assert tf.load_model(tmp_path / "out" / "closed_form.npz").robot_name == WORST
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        path.name for path in (tmp_path / "plain").iterdir()
    }


def test_multirate_code_of_the_worst_name(tmp_path: Path) -> None:
    if not COMPILERS:
        pytest.skip("no C compiler is installed")
    files = tf.multirate(renamed(tf.load("two_link"), WORST)).write_c(tmp_path / "c")
    flags = WARNINGS.replace("c99", "c11").split()
    for path in files:
        assert is_tame(path.read_text(encoding="utf-8").replace("\t", ""))
        if path.suffix == ".c":
            subprocess.run([COMPILERS[0], *flags, "-fsyntax-only", str(path)], check=True)


@pytest.mark.skipif(os.name == "nt", reason="names of files are limited there")
@pytest.mark.parametrize("key", ["escape sequences", "turned text", "rich markup", "lines", HALF, "python"])
def test_files_of_any_name(key: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A robot without a name of its own is called like its file."""
    tf.load("two_link").save("plain.toml")
    text = re.sub(r"^name = .*\n", "", Path("plain.toml").read_text(), count=1, flags=re.MULTILINE)
    name = NAMES[key].replace("/", "")
    file = Path(f"{name}.toml")
    file.write_text(text)
    assert main(["show", str(file)]) == 0
    assert main(["show", str(file), "-o", f"{name}.urdf"]) in (0, 2)
    out, err = capsys.readouterr()
    assert is_tame(out + err)
    tf.load(file).save("again.toml")
    assert tf.load("again.toml").name in (name, visible(name))


@pytest.mark.skipif(os.name == "nt", reason="names of files are limited there")
def test_units_of_any_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Units of a fleet are called like their folders: on its page, in its tables, checkpoints and on the terminal."""
    hostile = [NAMES[key] for key in ("script", "escape sequences", "turned text", "lines", HALF)]
    pages = []
    for root, names in (("plain", [f"unit{k}" for k in range(len(hostile))]), ("logs", hostile)):
        for k, name in enumerate(names):
            write_log(tmp_path / root / name.replace("/", "|") / "1.csv", samples(arm(k), k, seconds=6.0))
        (tmp_path / f"{root}_kept").mkdir()
        kept = ["--checkpoint", f"{root}_kept", "--workers", "0", "-o", f"{root}_out"]
        assert main(["fleet", "two_link", root, *kept]) in (0, 1)
        pages.append(
            (tmp_path / f"{root}_out" / "report.html").read_text(encoding="utf-8").replace(plotly_script(), "")
        )
    plain, found = map(Elements, pages)
    assert found.tags == plain.tags
    assert found.attributes == plain.attributes
    assert is_tame(pages[1].replace("\t", ""))
    assert is_tame("".join(capsys.readouterr()))


def test_progress_shows_names_and_obeys_none(capsys: pytest.CaptureFixture[str]) -> None:
    for progress in (ProgressLines(), ProgressBar()):
        for words in (WORST, NAMES["rich markup"]):
            progress(words)
            progress._show()  # type: ignore[attr-defined]
        progress.close(finished=True)
    _, err = capsys.readouterr()
    assert is_tame(err)
    assert "[red]arm[/red] [/]" in err
