"""Closed forms in files: one npz archive, versioned, without pickle, written whole or not at all."""

from __future__ import annotations

import io
import json
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import scipy.io
import scipy.sparse

from tauform.archives import read_archive
from tauform.arrays import LARGEST, read_only
from tauform.closedform.base.baseset import BaseParameters
from tauform.closedform.coordinates import Coordinates
from tauform.closedform.generators import Generators
from tauform.closedform.model.bound import BoundModel
from tauform.closedform.model.geometry import Followers, Geometry
from tauform.closedform.model.model import ClosedFormModel
from tauform.description.drives.drive import Drive
from tauform.description.joint import Closure
from tauform.description.joint_types import PRISMATIC, REVOLUTE, JointType, joint_type
from tauform.description.layout import Layout
from tauform.documents import is_indices, is_number, is_texts, parse_json
from tauform.errors import ModelError
from tauform.files.file import fresh_file
from tauform.wording import argument, call

FORMAT = "tauform closed-form model"
# Version 1 told kinds of joints by a flag, `revolute`; up to version 2 all robots are chains; up to version 3 functions
# are those of q itself; up to version 4 no joint follows others.
VERSION = 5
VERSION_OF_CHAINS, VERSION_OF_TREES, VERSION_OF_OFFSETS = 2, 3, 4
# utilities.g of the toolbox of Lloyd2021 [m/s^2], and the length of the text that a MAT-file begins with.
TOOLBOX_GRAVITY = 9.806132
MAT_HEADER = 116
# Power of a sine or cosine in a term, and rounding of a rotation matrix.
MOST_EXPONENT, MAX_ROTATION_ERROR = 100, 1e-6
_BASE_NAMES = ("names", "parameter_names", "no_effect", "alone", "regrouped")
_BASE_TEXTS = ("robot_name", "names", "pivots", "parameter_names", "columns", "no_effect", "alone", "regrouped")
_BASE_FIELDS = (*_BASE_TEXTS, "gap", "condition", "source", "findings")


def write_model(model: ClosedFormModel, path: str | PathLike[str]) -> None:
    """Write to a temporary file beside the target, then rename: a failure leaves nothing behind."""
    target = Path(path)
    if not target.parent.is_dir() or target.is_dir():
        raise ModelError(f"{target}: cannot be written; the folder must exist and the name must be a file's")
    constants, plain = [own.constants for own in model.geometry.types], model.coordinates.is_plain
    followers = model.geometry.followers
    facts = {
        "format": FORMAT,
        # The oldest version that can hold it, so that earlier releases read what they can.
        "version": _oldest_version(model),
        "robot_name": model.robot_name,
        "joint_names": model.joint_names,
        "joint_kinds": [own.name for own in model.geometry.types],
        **({"joint_constants": constants} if any(constants) else {}),
        **({} if model.geometry.is_chain else {"parents": model.geometry.parents}),
        **({} if followers is None else {"tree_joint_names": followers.joint_names}),
        "fixed": dict(model.fixed),
        "further_drives": [_plain_drive(term) for term in model.further_drives],
        "base": {name: getattr(model.base, name) for name in _BASE_FIELDS},
    }
    reduction = model.sparse_reduction
    arrays: dict[str, Any] = {
        # JSON as bytes: an archive of object arrays would need pickle, which runs what it reads.
        "facts": np.frombuffer(json.dumps(facts).encode(), dtype=np.uint8),
        "parent_from_joint": model.geometry.parent_from_joint,
        "gravity": model.geometry.gravity,
        "exponents": model.exponents,
        "reduction_data": reduction.data,
        "reduction_indices": reduction.indices,
        "reduction_indptr": reduction.indptr,
        "joint_terms": model.joint_terms,
        "grouping": model.base.grouping,
        "ties": model.ties,
        **({} if plain else {"coordinates": np.stack([model.coordinates.offset, model.coordinates.scale])}),
    }
    if followers is not None:
        arrays |= {"closure": followers.closure.F, "closure_offset": followers.closure.offset}
    if model.load_grouping is not None:
        arrays["load_grouping"] = model.load_grouping
    with fresh_file(target, ModelError) as file:
        np.savez_compressed(file, **arrays)


def _oldest_version(model: ClosedFormModel) -> int:
    if model.geometry.followers is not None:
        return VERSION
    if not model.coordinates.is_plain:
        return VERSION_OF_OFFSETS
    return VERSION_OF_CHAINS if model.geometry.is_chain else VERSION_OF_TREES


def write_mat(bound: BoundModel, path: str | PathLike[str]) -> None:
    """Write E, P and Theta for the paper's MATLAB toolbox; see `BoundModel.save_mat`."""
    target = Path(path)
    if target.suffix != ".mat" or not target.parent.is_dir() or target.is_dir():
        raise ModelError(f"{target}: cannot be written; the folder must exist and the name must end in .mat")
    model = bound.model
    n = model.n_joints
    if (model.coordinates.scale != 1).any():
        raise ModelError(
            f"save_mat: joints of {model.robot_name} follow by fractions of an angle, which the toolbox does not have",
            argument="bound",
            remedy=f"write MATLAB code with {call('write', target='matlab')}",
        )
    if not model.coordinates.is_plain:
        raise ModelError(
            f"save_mat: terms of {model.robot_name} are functions of q plus offsets, which the toolbox does not have",
            argument="bound",
            remedy=f"derive with {argument('absorb_offsets', False)}",
        )
    # (p, l, n), as the toolbox indexes P.
    P = model.reduction.transpose(1, 2, 0).copy()
    # The toolbox multiplies terms of gravity by its own constant.
    # Terms without velocity and acceleration are those of gravity.
    P[~model.exponents[Generators(n).rates].any(axis=0)] /= TOOLBOX_GRAVITY
    arrays = {
        "E": model.exponents.astype(np.uint8),
        "P": P,
        "Theta": bound.theta[:, None],
        "Theta_names": np.array(bound.base.names, dtype=object),
        "joint_names": np.array(bound.joint_names, dtype=object),
    }
    with io.BytesIO() as memory:
        scipy.io.savemat(memory, arrays, do_compression=True)
        # The header that scipy writes holds the date.
        contents = memory.getvalue()[MAT_HEADER:]
    with fresh_file(target, ModelError) as file:
        # The first bytes are for the reader; a date there would make each file another one.
        file.write(b"MATLAB 5.0 MAT-file, closed-form dynamics by tauform".ljust(MAT_HEADER) + contents)


def load_model(path: str | PathLike[str]) -> ClosedFormModel:
    """Read a model that `ClosedFormModel.save` wrote.

    Raises:
        ModelError: the file is missing, truncated, not a model, or written by a newer version.
    """
    target = Path(path)
    try:
        arrays = read_archive(target)
        if "facts" not in arrays:
            raise _no_model(target)
        facts = parse_json(arrays["facts"].tobytes())
        _check_format(facts, target)
        return _model(facts, arrays)
    except FileNotFoundError:
        raise ModelError(f"{target}: no such file; write one with model.save or tauform derive -o") from None
    except IsADirectoryError:
        raise ModelError(f"{target}: a folder, not a model file") from None
    except PermissionError:
        raise ModelError(f"{target}: may not be read; change its permissions") from None
    except MemoryError:
        raise ModelError(f"{target}: does not fit into memory; read it on a larger machine") from None
    # Already a sentence.
    except ModelError:
        raise
    # Files come from elsewhere: whatever is wrong with one must end in a sentence, not a traceback.
    except Exception:  # a forged file ends in nearly any error
        raise ModelError(
            f"{target}: truncated, damaged, or not a closed-form model; derive and save it again"
        ) from None


def _no_model(path: Path) -> ModelError:
    remedy = f"{call('load_model')} reads what model.save wrote"
    return ModelError(f"{path}: not a closed-form model", argument="path", value=path, remedy=remedy)


def _check_format(facts: Any, path: Path) -> None:
    if not isinstance(facts, dict) or facts.get("format") != FORMAT:
        raise _no_model(path)
    # By type: True is an int to isinstance.
    if type(facts["version"]) is not int or facts["version"] < 1:
        raise ValueError("no version")
    # Older versions are read; a newer one may mean something else by the same names.
    if facts["version"] > VERSION:
        raise ModelError(
            f"{path}: written by a newer tauform (file version {facts['version']}, this one reads up to {VERSION}); "
            "upgrade tauform or derive the model again"
        )


def _check_facts(facts: dict[str, Any]) -> None:
    """Raise ValueError where a name, an index or a number is of another type, or points outside."""
    base, count = facts["base"], len(facts["base"]["parameter_names"])
    texts = (facts["joint_names"], *(base[name] for name in _BASE_NAMES), base["findings"])
    if not all(map(is_texts, texts)) or not all(isinstance(x, str) for x in (facts["robot_name"], base["source"])):
        raise ValueError("a name is not text")
    if not is_indices(base["pivots"], count) or not is_indices(base["columns"], count):
        raise ValueError("an index points outside")
    fixed = facts["fixed"]
    if not set(fixed) <= set(facts["joint_names"]) or not all(map(is_number, fixed.values())):
        raise ValueError("fixed joints make no sense")
    # A gap is infinite where no column depends on others.
    if not is_number(base["condition"]) or not isinstance(base["gap"], int | float):
        raise ValueError("a figure is not a number")


def _check_arrays(facts: dict[str, Any], arrays: dict[str, Any]) -> None:
    """Raise ValueError where an array has not the type, size or values that the others imply."""
    base, exponents = facts["base"], arrays["exponents"]
    n, l, columns = len(facts["joint_names"]), len(base["names"]), len(base["parameter_names"])  # noqa: E741
    if exponents.ndim != 2:
        raise ValueError("exponents are not a matrix")
    n_terms, n_entries = exponents.shape[1], len(arrays["reduction_data"])
    n_bodies = len(facts.get("tree_joint_names", facts["joint_names"]))
    # Shapes follow from each other: with all of them right, no evaluation can index outside an array.
    expected: dict[str, tuple[str, tuple[int, ...]]] = {
        "exponents": ("i", (Generators(n).size, n_terms)),
        "parent_from_joint": ("f", (n_bodies, 4, 4)),
        "gravity": ("f", (3,)),
        "reduction_data": ("f", (n_entries,)),
        "reduction_indices": ("i", (n_entries,)),
        "reduction_indptr": ("i", (n * n_terms + 1,)),
        "joint_terms": ("f", (n_bodies, 3, l)),
        "grouping": ("f", (l, columns)),
        "ties": ("f", (len(arrays["ties"]), columns)),
        "load_grouping": ("f", (l, 10)),
        "coordinates": ("f", (2, n)),
        "closure": ("f", (n_bodies, n)),
        "closure_offset": ("f", (n_bodies,)),
    }
    optional = {"load_grouping", "coordinates"} | ({"closure", "closure_offset"} if n_bodies == n else set())
    for name, (kind, shape) in expected.items():
        array = arrays.get(name)
        if array is None and name in optional:
            continue
        # abs <= LARGEST is false for NaN too.
        if array is None or array.dtype.kind != kind or array.shape != shape or not (abs(array) <= LARGEST).all():
            raise ValueError(f"{name} does not fit the model")
    if not ((exponents >= 0) & (exponents <= MOST_EXPONENT)).all() or len(base["pivots"]) != l:
        raise ValueError("exponents or pivots make no sense")
    T = arrays["parent_from_joint"]
    rotation, last = T[:, :3, :3], np.array([0.0, 0.0, 0.0, 1.0])
    # R R^T = 1: a scaled or sheared frame would pass for a robot of other lengths.
    error = np.abs(rotation @ rotation.swapaxes(1, 2) - np.eye(3))
    if not (error < MAX_ROTATION_ERROR).all() or (T[:, 3] != last).any():
        raise ValueError("a placement is not rigid")


def _types(facts: dict[str, Any], arrays: dict[str, Any]) -> tuple[JointType, ...]:
    """Types of the joints; KeyError or ValueError where there are none."""
    if facts["version"] == 1:
        flags = arrays["revolute"]
        types: tuple[JointType, ...] = tuple(
            REVOLUTE if turns else PRISMATIC for turns in flags.tolist() if flags.dtype.kind == "b"
        )
    else:
        kinds = facts["joint_kinds"]
        types = tuple(map(joint_type, kinds, facts.get("joint_constants", [()] * len(kinds))))
    if len(types) != len(facts.get("tree_joint_names", facts["joint_names"])):
        raise ValueError("kinds and names of joints differ in number")
    return types


def _parents(facts: dict[str, Any], n: int) -> tuple[int, ...]:
    """Parent of each joint; ValueError where they are no tree."""
    parents = facts.get("parents", list(range(-1, n - 1)))
    if not isinstance(parents, list) or len(parents) != n:
        raise ValueError("parents and names of joints differ in number")
    # Parents before children: cycles are impossible then.
    if not all(type(parent) is int and -1 <= parent < i for i, parent in enumerate(parents)):
        raise ValueError("parents are no tree")
    return tuple(parents)


def _model(facts: dict[str, Any], arrays: dict[str, Any]) -> ClosedFormModel:
    _check_facts(facts)
    _check_arrays(facts, arrays)
    base_facts: dict[str, Any] = {key: tuple(v) if isinstance(v, list) else v for key, v in facts["base"].items()}
    types = _types(facts, arrays)
    drives = tuple(_drive(facts_of_one) for facts_of_one in facts.get("further_drives", ()))
    layout = Layout.of(types, drives)
    # The layout is rebuilt from the joints; a file whose names differ was written for other columns.
    if base_facts.pop("parameter_names") != layout.names:
        raise ValueError("the parameters are not those of the joints")
    base = BaseParameters(grouping=read_only(arrays["grouping"]), layout=layout, **base_facts)
    n, exponents = len(facts["joint_names"]), arrays["exponents"].astype(np.int8)
    exponents.setflags(write=False)
    n_terms = exponents.shape[1]
    reduction = scipy.sparse.csr_array(
        (arrays["reduction_data"], arrays["reduction_indices"], arrays["reduction_indptr"]), shape=(n * n_terms, base.n)
    )
    reduction.check_format(full_check=True)  # indices that point outside would crash the process
    return ClosedFormModel(
        robot_name=facts["robot_name"],
        joint_names=tuple(facts["joint_names"]),
        geometry=Geometry(
            read_only(arrays["parent_from_joint"]),
            types,
            read_only(arrays["gravity"]),
            _parents(facts, len(types)),
            _followers(facts, arrays),
        ),
        exponents=exponents,
        sparse_reduction=reduction,
        joint_terms=read_only(arrays["joint_terms"]),
        base=base,
        load_grouping=read_only(arrays["load_grouping"]) if "load_grouping" in arrays else None,
        ties=read_only(arrays["ties"]),
        fixed=facts["fixed"],
        coordinates=_coordinates(arrays, n),
        further_drives=drives,
    )


def _followers(facts: dict[str, Any], arrays: dict[str, Any]) -> Followers | None:
    """Joints that follow others; ValueError where they are none of the tree."""
    if "tree_joint_names" not in facts:
        return None
    names = facts["tree_joint_names"]
    if not is_texts(names) or not set(facts["joint_names"]) <= set(names):
        raise ValueError("joints that lead are none of the tree")
    closure = Closure(read_only(arrays["closure"]), read_only(arrays["closure_offset"]), tuple(facts["joint_names"]))
    return Followers(closure, tuple(names))


def _coordinates(arrays: dict[str, Any], n: int) -> Coordinates:
    if "coordinates" not in arrays:
        return Coordinates.plain(n)
    offset, scale = arrays["coordinates"]
    return Coordinates(read_only(offset), read_only(scale))


def _plain_drive(term: Drive) -> dict[str, Any]:
    return {"shape": term.shape, "joints": term.joints, "label": term.label, "constants": term.constants}


def _drive(facts: dict[str, Any]) -> Drive:
    return Drive.of(facts["shape"], facts["joints"], 0.0, facts["label"], **facts["constants"])
