"""Names that loggers use for what they record."""

from __future__ import annotations

TIME_NAMES = ("t", "time", "timestamp", "stamp", "t_s", "time_s", "time_sec", "sec", "seconds")
# Endings and beginnings that loggers use; longer ones are tried first.
FIELD_NAMES: dict[str, tuple[str, ...]] = {
    "q": ("actual_q", "actual_position", "joint_position", "position", "positions", "pos", "q_actual", "angle", "q"),
    "qd": ("actual_qd", "actual_velocity", "joint_velocity", "velocity", "velocities", "vel", "qd", "dq", "qdot"),
    "tau": (
        "actual_torque", "joint_torque", "measured_torque", "torque", "torques", "effort", "efforts", "eff",
        "actual_moment", "tau_j", "tau", "trq", "load", "moment", "moments",
    ),
    "current": ("actual_current", "motor_current", "current", "currents", "curr", "iq", "i"),
    "reference": ("target_q", "commanded_position", "desired_position", "reference", "q_ref", "q_des", "q_cmd", "qr"),
    "temperature": ("joint_temperature", "motor_temperature", "temperature", "temperatures", "temp"),
}  # fmt: skip


# Joined columns of one name, (N, n), as NPZ and MAT files hold them.
MATRIX_NAMES = {
    "q": ("q", "positions", "position", "pos", "actual_q"),
    "tau": ("tau", "torques", "torque", "effort", "efforts", "eff", "trq"),
    "qd": ("qd", "dq", "velocities", "velocity", "vel", "actual_qd"),
    "reference": ("q_ref", "reference", "target_q", "q_des"),
    "temperature": ("temperature", "temperatures", "temp"),
}
# Of one column that stands for all joints.
ONE_TEMPERATURE = ("temperature", "motor_temperature", "joint_temperature", "ambient_temperature", "oil_temperature")
COLUMN_FIELDS = ("q", "tau", "qd", "reference", "temperature")
MEANINGS = {
    "q": "positions",
    "tau": "torques",
    "qd": "velocities",
    "reference": "commanded positions",
    "temperature": "temperatures",
}
