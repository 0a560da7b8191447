"""Settings of the whole suite."""

from __future__ import annotations

import gc
import os
import re
import signal
import sys
import threading
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from processor_time import ProcessorTime

if TYPE_CHECKING:
    from tauform.pipeline.robot_model import RobotModel
    from tauform.report.delivery import Delivery

# Not while tests are collected (pytest_collection_finish): hardly anything that is imported is garbage.
gc.disable()

# Compiled modules are kept, also of tests, whatever is usual here: a run starts hundreds of processes.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# Signals that are ignored, in the background or under nohup, stay so here, but not in commands whose end is tested:
# these inherit what is ignored, not what is answered with nothing.
if threading.current_thread() is threading.main_thread():
    for _number in (signal.SIGINT, signal.SIGHUP):
        if signal.getsignal(_number) is signal.SIG_IGN:
            signal.signal(_number, lambda *_: None)

# Before NumPy is imported: test workers share the cores, and small matrices gain nothing from BLAS threads.
for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

# Laws and figures are those of the textbook algorithms; tests of tiers choose theirs.
os.environ["TAUFORM_TIER"] = "1"

# Commands in processes of their own keep silent about progress too: a busy machine would add lines.
os.environ["TAUFORM_PATIENCE"] = "1e6"

# What written Makefiles compile with unless a test says otherwise: -O3 takes four times as long for the same numbers.
# Their own flags are those of `flags_of_the_makefile`, and of every test at night.
QUICK = {
    "CFLAGS": "-std=c99 -O0 -ffp-contract=fast -Wall -Wextra -Wpedantic",
    "CXXFLAGS": "-std=c++17 -O0 -Wall -Wextra -Wpedantic",
}

REPOSITORY = Path(__file__).resolve().parents[1]
# What stood in the repository before the tests, and what pytest and Hypothesis keep there.
BEFORE = {path.name for path in REPOSITORY.iterdir()} | {".pytest_cache", ".hypothesis"}


def pytest_addoption(parser: pytest.Parser) -> None:
    """--update-golden writes the golden files instead of comparing with them."""
    parser.addoption("--update-golden", action="store_true", help="rewrite tests/golden with what is generated now")
    parser.addoption("--processor-times", metavar="FILE", help="write the processor time of each test as CSV")


def pytest_configure(config: pytest.Config) -> None:
    """Examples of Hypothesis, and what the tests cost, which is said at the end of each run."""
    from hypothesis import settings

    # Same examples on every run, and no deadline: the machines that run this are shared and noisy.
    # HYPOTHESIS_PROFILE=explore looks for new ones.
    settings.register_profile("repeatable", deadline=None, derandomize=True)
    settings.register_profile("explore", deadline=None, max_examples=1000)
    settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))
    if config.getoption("markexpr") == "not nightly":
        os.environ.update(QUICK)
    config.pluginmanager.register(ProcessorTime(config.getoption("--processor-times")))


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail where tests left a file in the repository, such as a log that a library writes to the working folder."""
    left = sorted({path.name for path in REPOSITORY.iterdir()} - BEFORE)
    if left and "PYTEST_XDIST_WORKER" not in os.environ:
        print(f"\nleft in the repository by the tests: {', '.join(left)}")
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_collection_finish() -> None:
    """Leave what was imported and collected out of garbage collection: hundreds of thousands of objects that stay."""
    gc.freeze()
    gc.enable()


# Where Pinocchio is not installed (`make lowest`), modules that compare with it are left out; CI demands it.
OF_PINOCCHIO = re.compile("pinocchio_oracle|real_robots|import pinocchio")
collect_ignore: list[str] = []
if find_spec("pinocchio") is None:
    modules = Path(__file__).parent.rglob("test_*.py")
    collect_ignore = [str(path) for path in modules if OF_PINOCCHIO.search(path.read_text(encoding="utf-8"))]


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Progress keeps silent, so that a busy machine adds no lines to what a command says."""
    monkeypatch.setattr("tauform.cli.progress.SILENT_SECONDS", 1e6)


@pytest.fixture(autouse=True)
def no_kept_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs are made anew: tests change how."""
    monkeypatch.setattr("tauform.codegen.runtime.programs.ENABLED", False)


@pytest.fixture(scope="session")
def cache_of_this_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache that all workers share, and that nothing of an earlier run is in."""
    base = tmp_path_factory.getbasetemp()
    return (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "cache"


@pytest.fixture
def kept_programs(cache_of_this_run: Path, no_kept_programs: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs are searched for once in a run, as for a user: for tests of what is done with them."""
    monkeypatch.setattr("tauform.codegen.runtime.programs.ENABLED", True)
    monkeypatch.setenv("TAUFORM_CACHE", str(cache_of_this_run))


@pytest.fixture
def flags_of_the_makefile(monkeypatch: pytest.MonkeyPatch) -> None:
    """A written Makefile compiles as it does for a user."""
    for variable in QUICK:
        monkeypatch.delenv(variable, raising=False)


@pytest.fixture(scope="session")
def repository() -> Path:
    """The root of the working tree."""
    return REPOSITORY


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of measured recordings, which is not part of the project; tests that need it skip without it."""
    folder = REPOSITORY.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("measured recordings are not on this machine")
    return folder


@pytest.fixture(scope="session")
def two_link() -> RobotModel:
    """A chain with everything that a description alone gives."""
    import tauform as tf

    return tf.model_robot(tf.load("two_link"), functions=("inverse_dynamics", "gravity_torque"), routes=("parameters",))


@pytest.fixture(scope="session")
def delivery(two_link: RobotModel, tmp_path_factory: pytest.TempPathFactory) -> Delivery:
    """The folder of `two_link`."""
    return two_link.write(tmp_path_factory.mktemp("delivery") / "out")
