"""Robot: a tree of links with one joint each. Everything else in the package starts from this type."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from tauform.arguments import check_fields, checked_methods
from tauform.arrays import Array, fixed_array, read_only
from tauform.deferred import deferred
from tauform.description.drives.drive import Drive
from tauform.description.finding import Finding
from tauform.description.inertia import Inertia
from tauform.description.joint import Closure, Frame, HeldJoint, Joint, Link, Payload
from tauform.description.layout import Layout
from tauform.description.loops.closure import GeneralClosure as GeneralClosure
from tauform.description.parameter_groups import Include, chosen_columns
from tauform.description.shapes import Shape
from tauform.description.structure import check_structure
from tauform.description.tree import Tree, own_drives
from tauform.description.values import Value
from tauform.hints import no_attribute
from tauform.messages import counted, no_such
from tauform.notebook import Displayed

if TYPE_CHECKING:
    from tauform.closedform.base.baseset import BaseParameters
    from tauform.description.formats.save import Written
    from tauform.report.notebook.view import RobotView

EARTH_GRAVITY = (0.0, 0.0, -9.81)


@checked_methods
@dataclass(frozen=True, eq=False, repr=False)
class Robot(Value, Displayed):
    """A fixed-base tree of links: link i is moved by joint i, parents come before children (depth first).

    Attributes:
        gravity: (3,) acceleration in the base frame [m/s^2].
        frames: named places on links; tip names the one where tools and payloads sit.
        closure: loop constraints; with one, q holds the active joints only.
        payload: carried body; part of `parameters` and of the dynamics.
        shapes: what links occupy, where the description says it; dynamics do not look at them.
        visuals: what links look like; only pictures look at them, and == ignores them.
        held: joints that were locked, with moving ones behind them; logs are checked for them, and == ignores it.
        further_drives: drive terms beyond the rotor inertia and the friction of each joint; see `drives`.
        notes: what the reader of a file took by default or left out; `check()` lists it, and == ignores it.
    """

    name: str
    joints: tuple[Joint, ...]
    links: tuple[Link, ...]
    gravity: Array = field(default_factory=lambda: read_only(EARTH_GRAVITY))
    frames: tuple[Frame, ...] = ()
    tip: str | None = None
    closure: Closure | GeneralClosure | None = None
    payload: Payload | None = None
    shapes: tuple[Shape, ...] = ()
    further_drives: tuple[Drive, ...] = ()
    notes: tuple[Finding, ...] = field(default=(), compare=False)
    visuals: tuple[Shape, ...] = field(default=(), compare=False)
    held: tuple[HeldJoint, ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        check_fields(self)
        # Frozen: only here may a field be brought into form.
        object.__setattr__(self, "gravity", fixed_array(self.gravity, (3,), "gravity"))
        # Springs between two links act on the joints between them, which only the tree knows.
        parents = [joint.parent for joint in self.joints]
        object.__setattr__(self, "further_drives", tuple(term.placed(parents) for term in self.further_drives))
        check_structure(self)

    @classmethod
    def from_dh(
        cls,
        rows: Sequence[Mapping[str, Any]],
        convention: Literal["standard", "modified"],
        *,
        name: str = "robot",
        gravity: ArrayLike = EARTH_GRAVITY,
        base: ArrayLike | None = None,
        tool: ArrayLike | None = None,
    ) -> Robot:
        """A serial chain from a Denavit-Hartenberg table: one mapping per joint, from the base to the tip.

        A row holds, in SI units, angles in radians; numbers may be text such as "-pi/2":

            joint                   "revolute" or "prismatic"
            a, alpha, d, theta      the geometry; q is added to theta, or to d of a prismatic joint, whose constant part
                                    may be left out
            sign                    +1, or -1 where q counts the other way
            mass, com, inertia      of the link, in the row's own DH frame: kg, (3,) m, kg m^2 as a (3, 3) tensor or as
                                    Ixx, Iyy, Izz, Ixy, Ixz, Iyz; left out they are zero
            inertia_about           "com" or "origin"; an inertia needs it
            parameters              in place of these four: m, mx, my, mz, Ixx, Ixy, Iyy, Ixz, Iyz, Izz about the origin
                                    of the frame, in this order or by name
            rotor_inertia           Ia seen at the joint
            viscous, coulomb, offset     friction Fv, Fc, Fo
            coulomb_width           velocity over which Coulomb friction changes its sign; 0 is sharp
            lower, upper, velocity, effort     limits
            name, link              of the joint and of its link; joint1 and link1 if not given

        Args:
            rows: the table.
            convention: "standard" is Rz(theta) Tz(d) Tx(a) Rx(alpha), "modified" Rx(alpha) Tx(a) Rz(theta) Tz(d); both
                are in use, so it has no default.
            name: of the robot.
            gravity: (3,) acceleration in the world frame [m/s^2].
            base: (4, 4) world_from_base placement.
            tool: (4, 4) placement of the tool in the last DH frame.

        Raises:
            DescriptionError: a column is missing, unknown or contradictory; the message names the row.
        """
        return deferred("Robot.from_dh")(rows, convention, name=name, gravity=gravity, base=base, tool=tool)

    @property
    def n_bodies(self) -> int:
        """Moving links (and joints of the tree)."""
        return len(self.joints)

    @property
    def n_joints(self) -> int:
        """Length of q: the joints, or the active ones where loop constraints hold."""
        return len(self.joint_names)

    @cached_property
    def n_q(self) -> int:
        """Length of q; n_joints where every joint has one coordinate, as revolute and prismatic ones do."""
        return self._count([joint.type.n_q for joint in self.joints])

    @cached_property
    def n_v(self) -> int:
        """Length of qd, qdd and tau; n_joints where every joint has one coordinate."""
        return self._count([joint.type.n_v for joint in self.joints])

    def _count(self, lengths: Sequence[int]) -> int:
        # Joints that follow others do so with one coordinate, and have none of their own in q.
        return self.n_joints if self.closure else sum(lengths)

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the coordinates in q, in order."""
        return self.closure.active if self.closure else tuple(joint.name for joint in self.joints)

    @property
    def is_chain(self) -> bool:
        """Whether each link carries at most one joint, without loop constraints."""
        return self.closure is None and all(joint.parent == i - 1 for i, joint in enumerate(self.joints))

    @cached_property
    def inertias(self) -> tuple[Inertia, ...]:
        """Inertia of each link, payload included."""
        inertias = [link.inertia for link in self.links]
        if self.payload:
            frame = self.frame(self.payload.frame)
            # A load on the base moves with nothing, so no torque feels it.
            if frame.link >= 0:
                inertias[frame.link] += self.payload.inertia.moved(frame.link_from_frame)
        return tuple(inertias)

    @cached_property
    def tree(self) -> Tree:
        """The arrays that algorithms run on."""
        # Made once: every algorithm asks for it at every call.
        return Tree.of(
            parents=tuple(joint.parent for joint in self.joints),
            types=tuple(joint.type for joint in self.joints),
            parent_from_joint=np.array([joint.parent_from_joint for joint in self.joints]),
            inertias=np.array([inertia.parameters for inertia in self.inertias]),
            joint_parameters=np.array([joint.parameters for joint in self.joints]),
            gravity=self.gravity,
            drives=self.drives,
            further=[term.coefficient for term in self.further_drives],
        )

    @cached_property
    def tree_rates(self) -> Array:
        """(n_bodies, n_joints) rates of the tree's joints for unit rates of q: F of linear loops, else the identity."""
        # General loops have no constant F: their G(q) is asked of the closure at each posture.
        return self.closure.F if self.closure else read_only(np.eye(self.n_bodies))

    @cached_property
    def drives(self) -> tuple[Drive, ...]:
        """All drive terms in the order of the layout: rotor, viscous, Coulomb, offset of each joint, then further."""
        return (*own_drives(self.joints), *self.further_drives)

    @cached_property
    def needs_temperature(self) -> bool:
        """Whether friction depends on the temperature of the joints."""
        return any("temperature" in term.reads for term in self.further_drives)

    @cached_property
    def layout(self) -> Layout:
        """Layout of `parameters`: the meaning of each column."""
        return Layout.of([joint.type for joint in self.joints], self.further_drives)

    @cached_property
    def parameters(self) -> Array:
        """(layout.n,) the ten of each link, Ia, Fv, Fc, Fo of each joint, then further drives; payload included."""
        # Payload inside: Y @ parameters is exactly the torque.
        links = [inertia.parameters for inertia in self.inertias]
        further = [term.coefficient for term in self.further_drives]
        return read_only(np.concatenate([*links, *(joint.parameters for joint in self.joints), further]))

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """Names of `parameters`: mx_2 belongs to the second link, Ia_3 to the third joint."""
        return self.layout.names

    def columns(self, include: Include | None = None) -> tuple[int, ...]:
        """Indices into `parameters` of what takes part; everything in the package that counts parameters asks here.

        Args:
            include: groups by name ("link", or the shape of drive terms), each of all joints; None for the links and
                the rotors of joints that declare one; "declared" for these, each of viscous, coulomb and offset that
                is not zero at every joint, and all further drive terms.

        Raises:
            UnknownNameError: no group of that name.
        """
        return chosen_columns(self.layout, self.joints, include)

    def frame(self, name: str) -> Frame:
        """The frame of that name; a link's name gives the link's own frame."""
        # Frames first: a URDF may name a frame like its link, placed elsewhere on it.
        for frame in self.frames:
            if frame.name == name:
                return frame
        for i, link in enumerate(self.links):
            if link.name == name:
                return Frame(name, i, read_only(np.eye(4)))
        known = [*(frame.name for frame in self.frames), *(link.name for link in self.links)]
        raise no_such(f"robot {self.name!r}: frame", name, known)

    @property
    def tool(self) -> Frame:
        """The frame named by `tip`, or the last link's own frame."""
        return self.frame(self.tip if self.tip is not None else self.links[-1].name)

    def with_payload(self, inertia: Inertia | None, frame: str | None = None) -> Robot:
        """Attach, replace or (None) remove the body carried at the tool or at another frame."""
        if inertia is None:
            return replace(self, payload=None)
        return replace(self, payload=Payload(self.frame(frame).name if frame else self.tool.name, inertia))

    def with_masses(self, masses: Mapping[str, float]) -> Robot:
        """The same robot with other masses [kg] of the links named, their shapes and centres of mass kept.

        Raises:
            UnknownNameError: no link of that name.
            DescriptionError: a link without mass has no shape to keep, or a mass is no mass.
        """
        return deferred("Robot.with_masses")(self, masses)

    def with_tool(self, shift: ArrayLike) -> Robot:
        """The same robot with `tool` moved by x, y, z [m] in its own axes; a payload there moves with it."""
        return deferred("Robot.with_tool")(self, shift)

    def with_gravity(self, gravity: ArrayLike) -> Robot:
        """The same robot under another gravity vector (base frame)."""
        return replace(self, gravity=fixed_array(gravity, (3,), "gravity"))

    def with_parameters(self, parameters: ArrayLike) -> Robot:
        """The same geometry with other values of `parameters`; a payload is merged into its link."""
        values = fixed_array(parameters, (self.layout.n,), "parameters")
        # A payload is part of `parameters`, so it cannot stay beside them: it would count twice.
        links = tuple(
            replace(link, inertia=Inertia(ten))
            for link, ten in zip(self.links, self.layout.by_link(values), strict=True)
        )
        fours = self.layout.by_joint(values)
        joints = tuple(joint.with_parameters(four) for joint, four in zip(self.joints, fours, strict=True))
        further = tuple(map(Drive.with_coefficient, self.further_drives, values[self.layout.further]))
        return replace(self, links=links, joints=joints, payload=None, further_drives=further)

    def with_drives(self, terms: Iterable[Drive]) -> Robot:
        """The same links with these drive terms in place of all that it has: `[*robot.drives, more]` adds one.

        Terms are made with `tf.Drive.of`; rotor, viscous, coulomb and offset become fields of their joint.

        Raises:
            DescriptionError: a term does not fit the joints, or is given twice.
        """
        return deferred("Robot.with_drives")(self, terms)

    def without_drives(self) -> Robot:
        """The links alone: no rotors, friction, springs or coupled shafts."""
        return self.with_drives(())

    def without_friction(self) -> Robot:
        """The same links, rotors and springs, without friction and constant offsets."""
        return self.with_drives(term for term in self.drives if term.is_inertial or term.is_conservative)

    @cached_property
    def rigid(self) -> Robot:
        """The same links with rotors and coupled rotors, and no other drive term: no friction, offsets or springs."""
        return self.with_drives(term for term in self.drives if term.is_inertial)

    def locked(self, positions: Mapping[str, float | str]) -> Robot:
        """Make joints rigid at these positions: what each carries becomes part of the link before it.

        Joints that follow a locked one (mimic joints, loops) are locked with it. The names of merged links stay as
        frames; drive terms of locked joints go, and springs between links that no longer move apart.
        """
        return deferred("Robot.locked")(self, positions)

    def up_to(self, tip: str) -> Robot:
        """Keep only the joints between the base and this link or frame, which becomes the tip.

        What is rigidly fixed to a kept link stays part of it. A joint off the path goes, with everything it carries and
        every drive term that acts on it; lock it first (`locked`) to keep that inertia.
        """
        return deferred("Robot.up_to")(self, tip)

    def snapped(self, angle: float) -> Robot:
        """Straighten frames that are almost aligned: angles within `angle` [rad] of a right angle become exact.

        The placement of each joint is Rz Rx Rz times a translation; its three angles are rounded to multiples of a
        quarter turn, and translations shorter than `angle` times the robot's longest become zero. `check()` says
        what that changes. Loops are closed with the new frames.

        Raises:
            LoopError: a loop does not close with them.
        """
        return deferred("Robot.snapped")(self, angle)

    def with_geometry(self, changes: ArrayLike) -> Robot:
        """The robot with its joints mounted elsewhere, as a geometric calibration finds them.

        Args:
            changes: (6 n_bodies,) of each joint, in its own frame before it moves: a rotation vector rx, ry, rz [rad]
                and a shift x, y, z [m], columns as of `tf.kinematic_regressor`. Loops are closed anew with them.

        Raises:
            ShapeError: another number of changes.
            LoopError: a loop does not close with the new geometry.
        """
        return deferred("Robot.with_geometry")(self, changes)

    def with_relations(self, relations: Mapping[str, Mapping[str, float | str] | str]) -> Robot:
        """Make joints follow others, by name: {"joint5": {"joint3": -1.0, "": 3.14}} is q5 = 3.14 - q3.

        The empty name holds the constant part. Text is any function of other joints: {"slide": "0.2*cos(crank)"}, with
        + - * / **, pi, sin, cos, tan, sqrt, asin, acos, atan, atan2. q then holds the joints that follow nothing;
        joints that follow others already go on doing so.

        Raises:
            DescriptionError: relations follow each other, or a text is no such function.
            UnknownNameError: no such joint.
        """
        return deferred("Robot.with_relations")(self, relations)

    def with_loops(self, F: ArrayLike, offset: ArrayLike, active: Sequence[str]) -> Robot:
        """Add explicit loop constraints q_tree = F @ q + offset; q then holds the active joints only.

        Args:
            F: (n_bodies, n_active); the row of an active joint is a unit vector.
            offset: (n_bodies,), zero for active joints.
            active: names of the joints that q holds, in order.

        Raises:
            ShapeError: an array has another shape.
            DescriptionError: joints that follow others already would no longer do so.
        """
        return deferred("Robot.with_loops")(self, F, offset, active)

    def with_closed_loop(
        self,
        name: str,
        frames: Sequence[str],
        passive: Sequence[str],
        start: Mapping[str, float | str],
        fixes: Literal["point", "frame"] = "point",
    ) -> Robot:
        """Close a loop: two frames coincide, which passive joints see to; q then holds the others.

        At each posture the passive joints are solved for by Newton's method, along a way from the start posture, whose
        branch is kept. Where f is known in closed form, `with_relations` with a text is quicker.

        Args:
            name: of the loop, for messages.
            frames: two frames or links that coincide.
            passive: joints that the loop determines, as many as it has independent equations.
            start: positions of joints on the loop near which it is closed; 0 where none is given.
            fixes: "point" keeps the origins together (a planar loop, a ball joint), "frame" the axes too.

        Raises:
            LoopError: it does not close at the start posture, by how many millimetres; or leaves a joint free.
            DescriptionError: a joint moves neither frame, or follows others already.
            UnknownNameError: no such frame or joint.
        """
        return deferred("Robot.with_closed_loop")(self, name, frames, passive, start, fixes)

    def save(self, path: str | Path) -> Written:
        """Write the robot as TOML or URDF, by the end of the file's name; `load` reads both.

        TOML (convention "frames") holds all of it but collision shapes, bit for bit. A URDF holds what others can read:
        joints with limits, links, Fv and Fc as damping and friction, joints that follow one other, frames as fixed
        links, shapes.

        Returns:
            The path, and as findings what the file has no place for; a URDF says that in a comment too.

        Raises:
            DescriptionError: another end of the name, no such folder, or a link that no URDF can hold.
        """
        return deferred("Robot.save")(self, path)

    def with_base_parameters(self, theta: ArrayLike, base: BaseParameters | None = None) -> Robot:
        """A robot with these dynamics: its links hold theta at the pivots and zero elsewhere.

        Such links are virtual (their masses may be zero or negative), which every algorithm takes; for
        physically consistent links see `tauform.feasible_parameters`. Parameters that took no part in `base`, such as
        friction, stay.

        Args:
            theta: (l,) values of base.names.
            base: what theta means; the default is base_parameters(robot).

        Raises:
            ShapeError: theta has another length than base, or base belongs to a robot of another size.
        """
        return deferred("Robot.with_base_parameters")(self, theta, base)

    def view(self, motion: Any = None) -> RobotView:
        """The robot in space, with its meshes, a slider for each joint and a motion that plays.

        Notebooks display it; `.save("robot.html")` writes a page that opens offline, `.show("robot.html")` opens it.

        Args:
            motion: what plays: a `Motion`, a `Trajectory` or positions (N, n); a sweep through the ranges if not given.

        Raises:
            ShapeError: positions of another number of joints, or a batch.
        """
        return deferred("Robot.view")(self, motion)

    def check(self) -> list[Finding]:
        """Doubts about this robot, in words: inertias, drives, almost aligned joints; see `tauform.check`."""
        return deferred("Robot.check")(self)

    if not TYPE_CHECKING:  # a type checker would take every name for an attribute

        def __getattr__(self, name: str) -> Any:
            raise no_attribute(Robot, name)

    def __repr__(self) -> str:
        letters = "".join(joint.type.letter for joint in self.joints)
        shape = "chain" if self.is_chain else "loops" if self.closure else "tree"
        return f"Robot({self.name!r}, {shape} {letters}, {counted(self.n_joints, 'coordinate')})"
