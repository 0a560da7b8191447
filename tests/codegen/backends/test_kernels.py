"""Kernels of graphics processors: on an OpenCL device with many states, and in the words of the language."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tauform as tf


def test_opencl_agrees_with_the_textbook(tmp_path: Path) -> None:
    """Results agree also where the output is an input, and with more work items than states."""
    cl = pytest.importorskip("pyopencl")
    try:
        context = cl.create_some_context(interactive=False)
    except cl.Error:
        pytest.skip("no OpenCL device is found")
    robot, count = tf.load("kr6_r700"), 1000
    tf.write(tf.generate(robot, "inverse_dynamics"), tmp_path / "arm", target="opencl", name="arm")
    program = cl.Program(context, (tmp_path / "arm" / "arm.cl").read_text(encoding="utf-8")).build()
    q, qd, qdd = np.random.default_rng(0).uniform(-2.0, 2.0, (3, count, robot.n_joints))
    with cl.CommandQueue(context) as queue:
        flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
        arrays = [cl.Buffer(context, flags, hostbuf=np.ascontiguousarray(x.T)) for x in (q, qd, qdd)]
        kernel = cl.Kernel(program, "arm_inverse_dynamics")
        kernel(queue, (count + 24,), None, *arrays, arrays[0], np.uint64(count))
        tau = np.empty((robot.n_joints, count))
        cl.enqueue_copy(queue, tau, arrays[0])
        queue.finish()
    expected = tf.textbook.inverse_dynamics(robot, q, qd, qdd)
    assert (np.abs(tau.T - expected).max(axis=0) <= 1e-12 * np.abs(expected).max(axis=0)).all()


@pytest.mark.parametrize("target", ["opencl", "cuda"])
def test_single_precision_names_no_double(target: str, tmp_path: Path) -> None:
    tf.write(
        tf.generate(tf.load("two_link"), "inverse_dynamics"), tmp_path / "arm", target=target, real="float", name="arm"
    )
    source = next(path for path in (tmp_path / "arm").glob("arm.c*"))
    text = source.read_text(encoding="utf-8")
    assert "double" not in text
    assert "typedef float Real;" in text
