"""Old import paths of documented names: `tauform.identification.signals.filters` is found where it lives today."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

# What pages and examples named before the folders had rooms; other modules are nobody's but ours.
MOVED = {
    "tauform.closedform.bound": "tauform.closedform.model.bound",
    "tauform.closedform.model.breakdown": "tauform.closedform.model.terms_by_kind",
    "tauform.identification.filters": "tauform.identification.signals.filters",
    "tauform.identification.trajectory": "tauform.identification.motion.trajectory",
    "tauform.realtime.prediction": "tauform.realtime.multirate.prediction",
}


class MovedModules(MetaPathFinder, Loader):
    """Finder of modules by their old names; the module itself exists once, so types stay the same."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Spec of a module that moved; None for all others."""
        # None leaves all other names to the usual finders.
        return ModuleSpec(fullname, self) if fullname in MOVED else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """The module under its new name."""
        module = import_module(MOVED[spec.name])
        # Kept for exec_module: the import system overwrites the module's spec in between.
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Give the module its own spec back."""
        # It ran under its new name already; the import system has put the old name into its spec.
        if module.__spec__ is not None:
            module.__spec__ = module.__spec__.loader_state


def find_moved_modules() -> None:
    """Let old import paths work."""
    # At the end: a module that exists is found before its old name is looked up.
    sys.meta_path.append(MovedModules())
