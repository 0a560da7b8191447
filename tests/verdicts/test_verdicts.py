"""A sample of the bench of verdicts (`make verdicts`): seeded faults are named, clean recordings are called good."""

from __future__ import annotations

import numpy as np
import pytest

from sampling import representatives
from verdicts.bench import outcome, table
from verdicts.coverage import COLOURS, coverage, coverage_table
from verdicts.seeded import FAULTS, case

# Seeds of small robots, which are quick; `make verdicts` takes hundreds.
SEEDS = {"none": 10, "mount": 6, "sign": 14, "payload": 1, "lag": 6, "clipping": 6, "unit": 6, "delay": 6}
CASES = [(fault, SEEDS.get(fault, 1)) for fault in FAULTS if fault != "missing joint"]


@pytest.mark.parametrize("which", representatives(CASES, ("none", 10), ("mount", 6), ("payload", 1), ("lag", 6)))
def test_a_seeded_fault_is_named_and_a_clean_recording_is_good(which: tuple[str, int]) -> None:
    fault, seed = which
    own = outcome(case(fault, seed))
    if fault == "none":
        assert own.grade == "good", own.said
        assert not own.is_optimistic
    else:
        assert own.is_named, own.said
        assert not own.is_missed
    assert len(table([own])) == 3


@pytest.mark.parametrize("n_stands", representatives([2, 24], 2))
def test_intervals_cover_the_truth_whatever_the_colour_of_the_noise(n_stands: int) -> None:
    found = [coverage(seed, colour) for colour in (COLOURS if n_stands > 3 else (0.0, 0.5)) for seed in range(n_stands)]
    for colour in {one.correlation for one in found}:
        inside = np.concatenate([one.inside for one in found if one.correlation == colour])
        # One factor per joint for all columns gives 84 % at 1 s; see the page on identification.
        assert inside.mean() > 0.9, coverage_table(found)
        assert inside.mean() < 0.99, coverage_table(found)
