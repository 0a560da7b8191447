"""look_at_fit: what the page shows of a fit; kept fits: files that later work reads them from."""

from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path

import numpy as np

from tauform.errors import IdentificationError
from tauform.files.file import fresh_file
from tauform.identification.fit import Fit
from tauform.messages import Progress
from tauform.report.notebook.plots import fit_plots
from tauform.report.sections.judged import JudgedTorques, judged_torques
from tauform.report.sections.verdict import next_steps
from tauform.studio.results import FitLook, Playback

FRAMES = 240  # of a motion that plays: enough for a slider's length


def look_at_fit(fit: Fit, path: Path, tell: Progress) -> FitLook:
    """Everything that the page shows of a fit; the fit itself is kept in a file.

    Raises:
        IdentificationError: the disk refuses.
    """
    tell("drawing figures")
    # Once for all figures: every sample of the verdict's recordings is predicted.
    torques = judged_torques(fit)
    look = FitLook(
        path=path,
        method=fit.method,
        n_values=len(fit.values),
        verdict=fit.verdict,
        next_steps=next_steps(fit),
        unseen=fit.unseen,
        findings=fit.findings,
        identified_robot=fit.identified_robot,
        plots=fit_plots(fit, torques),
        playback=_playback(torques),
    )
    tell("keeping the fit")
    keep_fit(fit, path)
    return look


def keep_fit(fit: Fit, path: Path) -> None:
    """Write a fit with the recordings that it was judged on, for processes of this session alone.

    Raises:
        IdentificationError: the disk refuses.
    """
    with fresh_file(path, IdentificationError) as file:
        # Of all that was fitted the stretches in `source` are enough: nothing is fitted again.
        pickle.dump(replace(fit, segments=()), file)


def kept_fit(path: Path) -> Fit:
    """A fit that this session kept; its folder is nobody else's, so that what it unpickles is its own."""
    with path.open("rb") as file:
        fit: Fit = pickle.load(file)
    return fit


def _playback(torques: JudgedTorques) -> Playback | None:
    """Frames evenly spread over the motion of the verdict."""
    # A fit that was loaded without its recording has nothing to play.
    if not torques.states:
        return None
    rms = np.sqrt((torques.measured**2).mean(axis=0))
    # Relative to the joint's RMS, so that light wrists and heavy shoulders share a colour scale.
    errors = np.abs(torques.measured - torques.predicted) / np.maximum(rms, 1e-12)
    # Unique where the motion has fewer rows than frames.
    rows = np.unique(np.linspace(0, len(torques.t) - 1, FRAMES).astype(int))
    return Playback(torques.t[rows] - torques.t[0], torques.states[0][rows], errors[rows])
