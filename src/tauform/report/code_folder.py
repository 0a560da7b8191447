"""The folder of C in a delivery: written, compiled elsewhere, its self-test run, and taken away where that fails."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tauform.codegen.write import write_c
from tauform.errors import GenerationError
from tauform.files.folder import drop_folder
from tauform.files.temporaries import scratch_folder
from tauform.identification.export.code import CodeOptions, WrittenCode, write_proven
from tauform.identification.export.proof import Proof
from tauform.messages import counted
from tauform.pipeline.robot_model import RobotModel
from tauform.pipeline.stages import StageLog

# Lines of a self-test.
LARGEST_DEVIATION = re.compile(r"largest deviation (\S+), allowed (\S+)")
DEVIATION_OF_ERROR = re.compile(r"torque error .*, deviation (\S+), allowed (\S+)")
# Far above any self-test; a hang must end the delivery all the same.
SELF_TEST_SECONDS = 300


@dataclass(frozen=True)
class SelfTest:
    """Result of `make check`, (deviation, what is allowed) each, that of the function which is nearest to failing.

    Attributes:
        on_states: largest deviation of results at random states.
        on_recording: deviation of the torque error on recorded motion; None where nothing was recorded.
    """

    on_states: tuple[float, float]
    on_recording: tuple[float, float] | None = None


def write_tested_code(
    model: RobotModel, folder: Path, name: str, options: CodeOptions, log: StageLog
) -> tuple[Proof | None, list[str]]:
    """Write all programs of a model: the proof of their torque error, and what a build will make there."""
    # True only behind the self-test; an exception inside the stage leaves it False.
    programs, ready = model.delivered, False
    # spare: a failure here ends this stage, and the other results are still written.
    with log.stage("C", spare=True) as describe:
        if not programs:
            describe(outcome="no programs to write", status="skipped")
            return None, []
        written = _written(model, folder, name, options)
        tested = _tested(model, folder, name, options)
        count = f"{counted(len(written.files), 'file')}, {counted(len(programs), 'function')}"
        describe_test(f"{count} in {options.real} precision", tested, describe)
        ready = True
    # A failed self-test must not leave C behind that somebody compiles.
    if not ready:
        drop_folder(folder)
        return None, []
    if written.proof is not None:
        _describe_proof(written.proof, tested, log)
    # The test's binary is a product of make, so a folder that holds it still counts as ours.
    return written.proof, [f"c/test_{name}"]


def _written(model: RobotModel, folder: Path, name: str, options: CodeOptions) -> WrittenCode:
    if model.fit is None:
        return WrittenCode(write_c(model.delivered, folder, name=name, real=options.real), None)
    return write_proven(model.fit, model.delivered, folder, name, options)


def _tested(model: RobotModel, folder: Path, name: str, options: CodeOptions) -> SelfTest | None:
    """The self-test on recorded motion too, also where the folder is not to hold it."""
    if options.recording:
        # The very folder that is delivered.
        return self_test(folder)
    # Recordings must not be delivered, but may prove the C: tested in a copy that vanishes.
    with scratch_folder() as scratch:
        _written(model, scratch / "c", name, replace(options, recording=True))
        return self_test(scratch / "c")


def _describe_proof(proof: Proof, tested: SelfTest | None, log: StageLog) -> None:
    """A line of the summary on the torque error."""
    with log.stage("C on recorded motion") as describe:
        said = (proof.torque_error, proof.remark)
        describe(outcome="; ".join(filter(None, said)), status="done" if proof.figures else "skipped")
        if tested is not None and tested.on_recording is not None:
            figure, allowed = tested.on_recording
            describe(status="verified", check="make check", figure=figure, allowed=allowed)


def describe_test(words: str, tested: SelfTest | None, describe: Callable[..., None]) -> None:
    """Fill in a stage of the summary."""
    if tested is None:
        describe(outcome=f"{words}; self-test not run: no C compiler", status="skipped")
    else:
        figure, allowed = tested.on_states
        describe(outcome=words, status="verified", check="make check", figure=figure, allowed=allowed)


def self_test(folder: Path) -> SelfTest | None:
    """Compile a folder of `write_c` and run its test elsewhere; None where make or a C compiler is missing.

    Raises:
        GenerationError: it does not compile or a result is off.
    """
    # CC may carry flags or a launcher, such as "ccache gcc".
    compiler = os.environ.get("CC", "cc").split()
    if not compiler or shutil.which("make") is None or shutil.which(compiler[0]) is None:
        return None
    with scratch_folder() as scratch:
        # Elsewhere: the folder that is delivered holds nothing that a build made.
        copy = shutil.copytree(folder, scratch / "c")
        done = _run(["make", "check"], copy)
    if done.returncode:
        # The last line of make names the failure; the whole log would bury it.
        last = (done.stderr or done.stdout).strip().splitlines()[-1:]
        raise GenerationError(f"the C failed its self-test ({' '.join(last)}) and was not written")
    on_states = _nearest_to_failing(LARGEST_DEVIATION, done.stdout)
    # A test that prints no figure has tested nothing: as bad as a failure.
    if on_states is None:
        raise GenerationError("the C's self-test ended without a figure; it was not written")
    return SelfTest(on_states, _nearest_to_failing(DEVIATION_OF_ERROR, done.stdout))


def _nearest_to_failing(pattern: re.Pattern[str], text: str) -> tuple[float, float] | None:
    found = [(float(error), float(allowed)) for error, allowed in pattern.findall(text)]
    # Relative to what each function is allowed: the largest deviation may be far within its own limit.
    return max(found, key=lambda pair: pair[0] / pair[1], default=None)


def _run(command: Sequence[str], folder: Path) -> subprocess.CompletedProcess[str]:
    try:
        # A compiler speaks the user's language in the user's encoding, which may be any.
        return subprocess.run(
            command,
            cwd=folder,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            check=False,
            timeout=SELF_TEST_SECONDS,
        )
    except subprocess.TimeoutExpired:
        raise GenerationError(f"the C's self-test took longer than {SELF_TEST_SECONDS} s; it was not written") from None
