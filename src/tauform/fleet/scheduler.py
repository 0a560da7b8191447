"""Where units are condensed: here, on processes of this machine, or on a cluster of Dask's."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from tauform.errors import IdentificationError, MissingExtraError
from tauform.fleet.condensed import Plan, UnitLogs
from tauform.fleet.dataset import LogFile
from tauform.fleet.summary import UnitSummary, summarized

# Attempts at a unit whose worker is lost.
RETRIES = 2
SECONDS_TO_ANSWER = 20


@contextmanager
def cluster(address: str | None, workers: int | None) -> Iterator[Any]:
    """A client of Dask: of the scheduler at an address, or of processes of this machine.

    Raises:
        MissingExtraError: dask is not installed.
        IdentificationError: the scheduler does not answer.
    """
    try:
        import distributed
    except ImportError:
        raise MissingExtraError("fleets on several workers need dask", remedy="pip install tauform[fleet]") from None
    # A cluster that exists is used and left running.
    if address is not None:
        try:
            client = distributed.Client(address, timeout=SECONDS_TO_ANSWER)
        except (OSError, TimeoutError, ValueError) as error:
            raise IdentificationError(
                f"scheduler {address} does not answer ({error}); start it, or leave it out"
            ) from None
        with client:
            yield client
        return
    count = workers or os.cpu_count() or 1
    with (
        distributed.LocalCluster(
            # One thread each: work is NumPy on one core, and processes do not share its lock.
            n_workers=count,
            threads_per_worker=1,
            processes=True,
            dashboard_address=None,
            silence_logs=50,
        ) as here,
        distributed.Client(here) as client,
    ):
        yield client


def condensed_units(
    units: Sequence[tuple[str, Sequence[LogFile], UnitLogs | None]],
    plan: Plan,
    client: Any | None,
    keep: bool,
    done: Callable[[str, UnitSummary | None, UnitLogs], None],
) -> None:
    """Condense all units; `done` takes each as it is finished, in any order.

    Args:
        units: name, files, and what is known of these.
        client: of Dask; None works here, one unit after the other.
        keep: bring the evidence back too, for checkpoints.
    """
    if client is None:
        for name, files, known in units:
            done(*summarized(name, files, plan, known, keep))
        return
    from distributed import as_completed

    # Once per worker, not once per unit.
    shared = client.scatter(plan, broadcast=True)
    futures = [
        # pure=False: the same names may hold other contents in a later run.
        client.submit(summarized, name, tuple(files), shared, known, keep, retries=RETRIES, pure=False)
        for name, files, known in units
    ]
    for future in as_completed(futures):
        done(*future.result())
        # Frees the result on the cluster; the caller has it now.
        future.release()
