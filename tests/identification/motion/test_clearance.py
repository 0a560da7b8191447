"""Distances that planned motions keep: slopes, pairs, and collisions as another engine sees them."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.interpolate import CubicHermiteSpline

import tauform as tf
from tauform.description.shapes import Box, Capsule, Cylinder, Hull, Mesh, Sphere
from tauform.identification.motion.bounds import bounds_of
from tauform.identification.motion.clearance import Clearance
from tauform.identification.motion.sweep import Moments, closest
from tauform.identification.motion.trajectory import Basis

pytest.importorskip("coal")
LIMITS = {"duration": 6.0, "harmonics": 4, "velocity": 2.0, "acceleration": 8.0, "n_starts": 1, "max_seconds": np.inf}
# An arm that can fold back onto its column and reach below the table it stands on.
SHAPES = {
    "base": '<box size="0.3 0.3 0.2"/>',
    "column": '<cylinder radius="0.08" length="0.5"/>',
    "upper": '<box size="0.6 0.1 0.1"/>',
    "fore": '<box size="0.5 0.08 0.08"/>',
    "tool": '<sphere radius="0.08"/>',
}
PLACES = {"base": "0 0 0.1", "column": "0 0 0.25", "upper": "0.3 0 0", "fore": "0.25 0 0", "tool": "0.12 0 0"}
JOINTS = [
    ("base", "column", "0 0 0.2", "0 0 1"),
    ("column", "upper", "0 0.15 0.5", "0 1 0"),
    ("upper", "fore", "0.6 -0.12 0", "0 1 0"),
    ("fore", "tool", "0.5 0 0", "1 0 0"),
]


@pytest.fixture
def urdf(tmp_path: Path) -> Path:
    inertial = '<inertial><origin xyz="0.2 0.02 0.01"/><mass value="3"/><inertia ixx="0.1" ixy="0" ixz="0" '
    inertial += 'iyy="0.2" iyz="0" izz="0.15"/></inertial>'
    text = ['<robot name="folding">']
    for name, shape in SHAPES.items():
        at = f'<origin xyz="{PLACES[name]}"/>'
        body = f"<collision>{at}<geometry>{shape}</geometry></collision>"
        text.append(f'<link name="{name}">{inertial}{body}</link>')
    for k, (parent, child, xyz, axis) in enumerate(JOINTS):
        limit = '<limit lower="-2.9" upper="2.9" velocity="3" effort="1000"/>'
        text.append(
            f'<joint name="j{k}" type="revolute"><parent link="{parent}"/><child link="{child}"/>'
            f'<origin xyz="{xyz}"/><axis xyz="{axis}"/>{limit}</joint>'
        )
    path = tmp_path / "folding.urdf"
    path.write_text("\n".join([*text, "</robot>"]))
    return path


def engine_distances(urdf: Path, motion: tf.Trajectory, pairs: list[tuple[str, str]], finer: float = 10) -> np.ndarray:
    """Distances of links by Pinocchio, `finer` times between the samples of a motion too; (moments, pairs)."""
    pin = pytest.importorskip("pinocchio")
    model = pin.buildModelFromUrdf(str(urdf))
    packages = [str(folder) for folder in list(urdf.parents)[1:6]]
    geometry = pin.buildGeomFromUrdf(model, str(urdf), pin.GeometryType.COLLISION, package_dirs=packages)
    columns = []
    for first, second in pairs:
        ones, others = (
            [k for k, g in enumerate(geometry.geometryObjects) if g.name.rsplit("_", 1)[0] == name]
            for name in (first, second)
        )
        columns.append([(a, b) for a in ones for b in others])
        for a, b in columns[-1]:
            geometry.addCollisionPair(pin.CollisionPair(a, b))
    order = [motion.joint_names.index(name) for name in list(model.names)[1:]]
    t = np.linspace(motion.t[0], motion.t[-1], int(finer * (len(motion.t) - 1)) + 1)
    q = CubicHermiteSpline(motion.t, motion.q, motion.qd)(t)[:, order]
    data, geometry_data = model.createData(), geometry.createData()
    found = []
    for x in q:
        pin.computeDistances(model, data, geometry, geometry_data, x)
        each = iter([result.min_distance for result in geometry_data.distanceResults])
        found.append([min(next(each) for _ in column) for column in columns])
    return np.array(found)


def collides(urdf: Path, q: np.ndarray) -> np.ndarray:
    """Whether links that are no neighbours touch, by Pinocchio's kinematics and pairs of names."""
    pin = pytest.importorskip("pinocchio")
    model = pin.buildModelFromUrdf(str(urdf))
    geometry = pin.buildGeomFromUrdf(model, str(urdf), pin.GeometryType.COLLISION)
    order = list(SHAPES)
    place = {g.name.rsplit("_", 1)[0]: k for k, g in enumerate(geometry.geometryObjects)}
    for a, first in enumerate(order):
        for second in order[a + 2 :]:
            geometry.addCollisionPair(pin.CollisionPair(place[first], place[second]))
    data, geometry_data = model.createData(), geometry.createData()
    return np.array([pin.computeCollisions(model, data, geometry, geometry_data, x, True) for x in q])


def test_shapes_of_a_urdf_are_read_and_follow_the_links(urdf: Path) -> None:
    robot = tf.load(urdf)
    solids = {shape.frame: shape.solid for shape in robot.shapes}
    assert solids["base"] == Box((0.3, 0.3, 0.2))
    assert solids["column"] == Cylinder(0.08, 0.5)
    assert solids["tool"] == Sphere(0.08)
    assert [shape.frame for shape in robot.up_to("upper").shapes] == ["base", "column", "upper"]
    assert len(robot.locked({"j3": 0.5}).shapes) == 5


def test_meshes_are_found_and_broken_shapes_named(urdf: Path) -> None:
    (urdf.parent / "meshes").mkdir()
    (urdf.parent / "meshes" / "a.stl").write_bytes(b"no mesh")
    text = urdf.read_text()
    named = text.replace('<box size="0.6 0.1 0.1"/>', '<mesh filename="package://robot/meshes/a.stl" scale="1 1 2"/>')
    urdf.write_text(named)
    solid = tf.load(urdf).shapes[2].solid
    assert isinstance(solid, Mesh)
    assert Path(solid.file).is_file()
    assert solid.scale == (1.0, 1.0, 2.0)
    with pytest.raises(tf.errors.IdentificationError, match=r"link 'upper': its collision mesh .* cannot be read"):
        tf.excite(tf.load(urdf), **LIMITS)  # type: ignore[arg-type]
    urdf.write_text(text.replace('size="0.6 0.1 0.1"', 'size="0.6 0 0.1"'))
    with pytest.raises(tf.errors.IdentificationError, match="link 'upper': its collision shape cannot be read"):
        tf.excite(tf.load(urdf), **LIMITS)  # type: ignore[arg-type]


def test_shapes_of_an_mjcf_are_where_those_of_the_urdf_are(urdf: Path) -> None:
    """MuJoCo reads the URDF, writes its own format, and the distances stay the same."""
    mujoco = pytest.importorskip("mujoco")
    text = urdf.read_text().replace(
        '<robot name="folding">', '<robot name="folding"><mujoco><compiler fusestatic="false"/></mujoco>'
    )
    mjcf = urdf.with_suffix(".xml")
    mujoco.mj_saveLastXML(str(mjcf), mujoco.MjModel.from_xml_string(text))
    first, second = tf.load(urdf), tf.load(mjcf)
    assert {type(shape.solid) for shape in second.shapes} == {Box, Cylinder, Sphere}
    distances = [Clearance.of(robot, bounds_of(robot)) for robot in (first, second)]
    q = np.random.default_rng(4).uniform(-2.9, 2.9, (60, 4))
    for x in q:
        one, other = (clearance.nearest(x[None]).distance for clearance in distances)
        assert one == pytest.approx(other, abs=1e-6)


def test_meshes_of_an_mjcf_stay_where_they_were_drawn(tmp_path: Path) -> None:
    """MuJoCo moves a mesh to its own centre and axes, and the geom the other way."""
    pytest.importorskip("mujoco")
    corners = np.array([[0.1, 0, 0], [1, 0.2, 0], [0, 1, 0.1], [0.3, 0.1, 1]])
    path = tmp_path / "mesh.xml"
    path.write_text(
        f"""<mujoco><asset><mesh name="tetra" vertex="{" ".join(map(str, corners.ravel()))}"/></asset><worldbody>
        <geom type="plane" size="1 1 1"/>
        <body name="link"><joint axis="0 0 1"/><geom type="mesh" mesh="tetra" pos="0 0 2"/>
        <geom type="capsule" size="0.1 0.2"/><geom type="sphere" size="0.1" contype="0" conaffinity="0"/></body>
        </worldbody></mujoco>"""
    )
    robot = tf.load(path)
    hull, capsule = (shape.solid for shape in robot.shapes)
    assert capsule == Capsule(0.1, 0.4)
    assert isinstance(hull, Hull)
    T = robot.shapes[0].frame_from_shape
    placed = hull.points @ T[:3, :3].T + T[:3, 3]
    apart = np.linalg.norm(placed[:, None] - (corners + np.array([0, 0, 2])), axis=2)
    assert apart.min(axis=1).max() < 1e-6
    assert sorted(apart.argmin(axis=1)) == [0, 1, 2, 3]
    clearance = Clearance.of(robot, bounds_of(robot), floor=-1.0)
    assert clearance.nearest(np.zeros((1, 1))).distance > 0


def test_a_missing_extra_is_named(urdf: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "coal", None)
    with pytest.raises(tf.errors.MissingExtraError, match=r"pip install tauform\[collision\], or plan with"):
        tf.excite(tf.load(urdf), **LIMITS)  # type: ignore[arg-type]
    assert tf.excite(tf.load(urdf), collisions=False, **LIMITS).condition is not None  # type: ignore[arg-type]


def test_distances_are_negative_exactly_where_another_engine_sees_a_collision(urdf: Path) -> None:
    robot = tf.load(urdf)
    clearance = Clearance.of(robot, bounds_of(robot))
    assert not clearance.guarded.ignored
    q = np.random.default_rng(0).uniform(-2.9, 2.9, (300, 4))
    expected = collides(urdf, q)
    assert 20 < expected.sum() < 280
    # `nearest` measures against what is kept, which is 2 cm here or less.
    free = np.array([clearance.nearest(x[None]).distance + clearance.kept.max() > 0 for x in q])
    assert (free == ~expected).mean() > 0.97
    assert not any(clearance.nearest(x[None]).distance > 0 for x in q[expected])


def test_slopes_of_the_charge_are_exact(urdf: Path) -> None:
    robot = tf.load(urdf)
    clearance = Clearance.of(robot, bounds_of(robot), floor=0.0)
    rng = np.random.default_rng(1)
    q, direction = rng.uniform(-2.9, 2.9, (90, 4)), rng.normal(size=(90, 4))
    step = 1e-6
    slope = (clearance.charge(q + step * direction)[0] - clearance.charge(q - step * direction)[0]) / (2 * step)
    assert slope != 0
    assert (clearance.charge(q)[1] * direction).sum() == pytest.approx(slope, rel=1e-4)


def test_what_was_measured_before_changes_nothing(urdf: Path) -> None:
    """A search measures anew only where a motion may have come nearer since."""
    robot = tf.load(urdf)
    searching = Clearance.of(robot, bounds_of(robot), floor=0.0)
    rng = np.random.default_rng(2)
    q = rng.uniform(-2.9, 2.9, (90, 4))
    for size in (0.0, 1e-3, 0.02, 0.2, 1.0, 0.05):
        q = q + size * rng.normal(size=q.shape)
        charge, slopes = searching.charge(q)
        fresh_charge, fresh_slopes = Clearance.of(robot, bounds_of(robot), floor=0.0).charge(q)
        assert charge == pytest.approx(fresh_charge, rel=1e-12)
        np.testing.assert_allclose(slopes, fresh_slopes, rtol=1e-9, atol=1e-12)


@pytest.mark.nightly
def test_a_planned_motion_does_not_collide(urdf: Path) -> None:
    robot = tf.load(urdf)
    careless = tf.excite(robot, collisions=False, **LIMITS)  # type: ignore[arg-type]
    assert collides(urdf, careless.q).any()
    found = tf.excite(robot, **LIMITS)  # type: ignore[arg-type]
    assert not collides(urdf, found.q).any()
    assert found.condition is not None
    assert found.condition < 100


@pytest.mark.parametrize("floor", [2.0, 5.0])
def test_a_floor_above_the_whole_arm_is_refused(urdf: Path, floor: float) -> None:
    """An arm below the floor is not apart from it, however far below it is."""
    with pytest.raises(tf.errors.IdentificationError, match=rf"floor={floor:g}: all links of .* are below it"):
        tf.excite(tf.load(urdf), floor=floor, **LIMITS)  # type: ignore[arg-type]


def test_a_planned_motion_stays_above_the_floor_and_does_not_collide(urdf: Path) -> None:
    robot, quick = tf.load(urdf), {**LIMITS, "harmonics": 2}
    careless = tf.excite(robot, collisions=False, **quick)  # type: ignore[arg-type]
    assert collides(urdf, careless.q).any()
    found = tf.excite(robot, floor=0.0, **quick)  # type: ignore[arg-type]
    # The centre of the tool's ball, 8 cm in radius.
    at_tool = tf.forward_kinematics(robot, found.q, "tool")
    height = (at_tool @ [0.12, 0.0, 0.0, 1.0])[:, 2]
    assert height.min() > 0.08
    assert not collides(urdf, found.q).any()


def test_links_that_touch_at_rest_are_kept_apart_elsewhere(urdf: Path) -> None:
    """At zero the forearm lies folded on the upper arm, in touch with the column: no reason to hit it later."""
    urdf.write_text(urdf.read_text().replace('xyz="0.6 -0.12 0"', 'xyz="0.5 -0.15 0" rpy="0 3.14159265 0"'))
    robot, quick = tf.load(urdf), {**LIMITS, "harmonics": 2}
    at_rest = tf.Trajectory(np.arange(2.0), *np.zeros((3, 2, 4)), robot.joint_names)
    assert engine_distances(urdf, at_rest, [("column", "fore")], finer=1).max() < 0
    careless = tf.excite(robot, collisions=False, **quick)  # type: ignore[arg-type]
    assert engine_distances(urdf, careless, [("column", "fore")]).min() < 0
    assert "links are not kept apart" in " ".join(careless.findings)
    found = tf.excite(robot, **quick)  # type: ignore[arg-type]
    distances = engine_distances(urdf, found, [("column", "fore"), ("column", "tool"), ("base", "fore")])
    assert distances.min() > 0.9 * Clearance.of(robot, bounds_of(robot)).kept.min()
    assert "kept apart at every moment" in " ".join(found.findings)


def test_what_happens_between_samples_is_seen(urdf: Path) -> None:
    """A whole turn through the floor, with samples at its ends only."""
    robot = tf.load(urdf)
    clearance = Clearance.of(robot, bounds_of(robot), floor=0.0)
    start, turn = np.array([0.0, -1.2, 0.0, 0.0]), np.array([[0.0], [2 * np.pi], [0.0], [0.0]])
    assert clearance.nearest(np.stack([start, start + turn[:, 0]])).distance > 0

    def sampled(intervals: int) -> Basis:
        return Basis.quintic(1.0, 1, float(intervals))

    assert closest(clearance, Moments.of(start, turn, sampled)).distance < 0
    assert closest(clearance, Moments.of(start, 0.1 * turn, sampled)).distance > 0


def test_a_sweep_bounds_every_distance_of_a_fine_grid(urdf: Path) -> None:
    """Proven motions keep their distance on a grid of their own; refused ones are nearly too near somewhere."""
    robot = tf.load(urdf)
    clearance = Clearance.of(robot, bounds_of(robot), floor=0.0)
    rng = np.random.default_rng(3)
    fine, proven = Basis.fourier(6.0, 3, 401.0), 0

    def sampled(intervals: int) -> Basis:
        return Basis.fourier(6.0, 3, intervals / 6.0)

    for _ in range(12):
        start, amplitudes = rng.uniform(-1.0, 0.0, 4), 0.35 * rng.normal(size=(4, fine.n))
        kept = clearance.nearest(start + (amplitudes @ fine.values).T).distance
        found = closest(clearance, Moments.of(start, amplitudes, sampled)).distance
        proven += found > 0
        assert kept > 0 if found > 0 else kept < 0.002
    assert 2 <= proven <= 10


def test_pairs_that_may_touch_are_named_by_the_user(urdf: Path) -> None:
    robot = tf.load(urdf)
    every = Clearance.of(robot, bounds_of(robot))
    fewer = Clearance.of(robot, bounds_of(robot), unguarded=[("tool", "column")])
    assert len(fewer.pairs) == len(every.pairs) - 1
    assert "not kept apart, as asked: column and tool" in fewer.findings()
    with pytest.raises(tf.errors.UnknownNameError, match=r"'colum' does not exist; did you mean 'column'"):
        tf.excite(robot, unguarded=[("tool", "colum")], **LIMITS)  # type: ignore[arg-type]


def test_shapes_that_always_touch_and_links_without_any_are_stated(urdf: Path) -> None:
    text = urdf.read_text()
    text = text.replace('radius="0.08" length="0.5"', 'radius="1.0" length="2.0"')
    ball = '<origin xyz="0.12 0 0"/><geometry><sphere radius="0.08"/></geometry>'
    urdf.write_text(text.replace(f"<collision>{ball}</collision>", ""))
    said = " ".join(Clearance.of(tf.load(urdf), bounds_of(tf.load(urdf))).findings())
    assert "no collision shape: tool" in said
    assert "joint limits alone: 2 pairs of neighbours" in said
    assert "touch in nearly every posture: column and fore" in said


@pytest.mark.nightly
# The engine takes a quarter of a second for one posture of so101, whose meshes are fine.
@pytest.mark.parametrize(("name", "finer"), [("ur10", 4), ("xarm7", 4), ("z1", 4), ("so101", 0.25)])
def test_motions_of_real_arms_keep_what_they_state_by_another_engine(name: str, finer: float) -> None:
    real_robots = pytest.importorskip("real_robots", reason="example-robot-data is not installed")
    path: Path = real_robots.urdf({"ur10": "ur10_robot"}.get(name, name))
    robot = tf.load(path)
    clearance = Clearance.of(robot, bounds_of(robot))
    found = tf.excite(robot, duration=8.0, harmonics=6, n_starts=2, max_seconds=60.0)
    kept: dict[tuple[str, str], float] = {}
    for (a, b), distance in zip(clearance.pairs, clearance.kept, strict=True):
        names = clearance.solids[a].name, clearance.solids[b].name
        kept[names] = min(kept.get(names, np.inf), float(distance))
    # Of links with several shapes the engine sees those that meet at the joint, too.
    kept = {pair: distance for pair, distance in kept.items() if " and ".join(pair) not in clearance.guarded.joined}
    distances = engine_distances(path, found, list(kept), finer).min(axis=0)
    assert (distances > 0.99 * np.array(list(kept.values()))).all()
