"""Faults as columns: whatever terms a model splits friction into, more of it is one fault with its size and sign."""

from __future__ import annotations

import numpy as np
import pytest

import tauform as tf
from tauform.description.drives import SHAPES
from tauform.fleet.evidence.faults import FRICTION, faults_of, moving_of
from tauform.identification.regression.design import Design

# Drive terms of joint 2 beside its Coulomb and viscous friction.
TERMS = {
    "smooth": {"width": 0.01},
    "stribeck": {"width": 0.05},
    "asymmetric": {},
    "quadratic": {},
}


@pytest.mark.parametrize("shape", TERMS)
def test_all_friction_of_a_joint_is_one_fault(shape: str) -> None:
    term = SHAPES[shape](joints=(1,), coefficient=1.0, **TERMS[shape])
    design = Design.of(tf.load("two_link"), terms=[term])
    values = np.random.default_rng(0).normal(size=design.n_columns)
    fault = next(own for own in faults_of(design, values) if (own.name, own.joints) == ("friction", (1,)))
    of_joint = np.array([kind in ("Fv", "Fc", term.kind) and joints == (1,) for kind, joints in design.kinds])
    assert of_joint.sum() == 3
    # A step of the other sign than its Coulomb friction, too: 30 % more torque is a size of 0.3, not of -0.3.
    np.testing.assert_array_equal(fault.directions[: len(values), 0], np.where(of_joint, values, 0.0))


def test_friction_is_what_brakes_a_joint() -> None:
    assert {"Fv", "Fc", "Fs", "Fb", "Fa", "Fq"} <= FRICTION
    assert not FRICTION & {"Fo", "Ia", "Izz", "K"}
    design = Design.of(tf.load("two_link"))
    assert [design.names[k] for k in moving_of(design)] == ["Fv_1", "Fc_1", "Fo_1", "Fv_2", "Fc_2", "Fo_2"]
