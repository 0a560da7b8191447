"""Where tasks run: here, on processes of this machine, or on a cluster of Dask's; lost workers cost time only."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from tauform.errors import IdentificationError, MissingExtraError

# Attempts at a task that fails, and rounds of submission where the whole scheduler is lost.
RETRIES, ROUNDS = 2, 5
SECONDS_TO_ANSWER = 20
# Seconds that workers may take to come back after a scheduler was restarted.
SECONDS_TO_RETURN = 120
# Bytes that a worker's malloc keeps for the next array. Dask's own 64 kB returns every one to the system and fetches it
# anew, page by page, which takes half of a task's time.
BYTES_KEPT = 32 << 20
# What Dask does beside the tasks, on the same cores: samples of its profiler every 10 ms, ticks every 20 ms, looks at
# the memory every 0.1 s and at the system every 0.5 s. Tasks that take seconds need none of that as often.
SELDOM = {
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "5s",
    "distributed.worker.memory.monitor-interval": "1s",
}
# Tasks that travel together, where as many packs of them are left for each worker: Dask's own work is some milliseconds
# for each, on the client and on a worker. Towards the end packs become smaller, so that no worker waits for the last.
MOST_IN_PACK, PACKS_PER_WORKER = 8, 4
Key = TypeVar("Key", bound=Hashable)
Shared = TypeVar("Shared")
Result = TypeVar("Result")


@contextmanager
def cluster(address: str | None, workers: int | None) -> Iterator[Any]:
    """A client of Dask: of the scheduler at an address, or of processes of this machine.

    Raises:
        MissingExtraError: dask is not installed.
        IdentificationError: the scheduler does not answer.
    """
    try:
        import dask
        import distributed
    except ImportError:
        raise MissingExtraError("work on several workers needs dask", remedy="pip install tauform[fleet]") from None
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
    kept = dict.fromkeys(("MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_"), BYTES_KEPT)
    with (
        safe_path(),
        dask.config.set(
            SELDOM | {f"distributed.nanny.pre-spawn-environ.{name}": value for name, value in kept.items()}
        ),
        distributed.LocalCluster(
            # One thread each: work is NumPy on one core, and processes do not share its lock.
            n_workers=count,
            threads_per_worker=1,
            processes=True,
            # Any free port of this machine; without bokeh there is none, and nothing depends on it.
            dashboard_address="127.0.0.1:0",
            silence_logs=50,
        ) as here,
        # Results come from the workers themselves: by the scheduler each would be received and sent once more.
        distributed.Client(here, direct_to_workers=True) as client,
    ):
        yield client


@contextmanager
def cluster_if_asked(address: str | None, workers: int | None) -> Iterator[Any]:
    """The same where an address or a number of workers is given; else None, for work in this process."""
    # Starting one takes longer than most work.
    if address is None and not workers:
        yield None
        return
    with cluster(address, workers) as client:
        yield client


@contextmanager
def safe_path() -> Iterator[None]:
    """Python that is started meanwhile finds no modules in the folder that one stands in, a stranger's perhaps."""
    before = os.environ.get("PYTHONSAFEPATH")
    os.environ["PYTHONSAFEPATH"] = "1"
    try:
        yield
    finally:
        if before is None:
            os.environ.pop("PYTHONSAFEPATH", None)
        else:
            os.environ["PYTHONSAFEPATH"] = before


def everywhere(work: Callable[[], object], client: Any | None) -> None:
    """Begin `work()` on every worker, and wait for none: imports that the first tasks would wait for."""
    if client is None:
        return
    from distributed import fire_and_forget

    for address in client.ncores():
        fire_and_forget(client.submit(work, workers=[address], pure=False))


def dashboard(client: Any | None) -> str:
    """Where Dask shows its workers, in words; empty where it does not."""
    link = str(getattr(client, "dashboard_link", "") or "")
    return f"dashboard: {link}" if link else ""


def completed(
    work: Callable[..., Result],
    shared: Shared,
    tasks: Mapping[Key, tuple[Any, ...]],
    client: Any | None,
    done: Callable[[Key, Result], None],
) -> None:
    """Complete `work(shared, *task)` of all tasks; `done` takes each exactly once as it is finished, in any order.

    Args:
        shared: what all tasks need; it travels once per worker.
        tasks: further arguments by key; sentences name keys as units of work.
        client: of Dask; None works here, one task after the other.

    Raises:
        IdentificationError: the scheduler is gone, or workers die of a task again and again.
    """
    if client is None:
        for key, task in tasks.items():
            done(key, work(shared, *task))
        return
    left = dict(tasks)
    for _ in range(ROUNDS):
        why = _one_round(work, shared, left, client, done)
        if not left:
            return
        _wait_for_workers(client, len(left), why)
    raise IdentificationError(
        f"workers were lost {ROUNDS} times; {len(left)} units are left, the first is {next(iter(left))}; "
        "give workers more memory, or look at its logs"
    )


def _one_round(
    work: Callable[..., Result],
    shared: Shared,
    left: dict[Key, tuple[Any, ...]],
    client: Any,
    done: Callable[[Key, Result], None],
) -> str:
    """Submit what is left and take off what comes back; returns why the rest did not."""
    from distributed import CancelledError, KilledWorker
    from distributed.comm.core import CommClosedError

    # Losses that another round mends; what a task itself raises is a defect and goes up.
    lost = (CancelledError, KilledWorker, CommClosedError, TimeoutError, OSError)
    why = ""
    try:
        # As a task: data that was scattered would be gone with the workers that held it.
        common = client.submit(pickle.loads, pickle.dumps(shared), pure=False)
        futures = {
            # pure=False: the same names may hold other contents in a later run.
            client.submit(_pack, work, common, [left[key] for key in keys], retries=RETRIES, pure=False): keys
            for keys in _packed(list(left), _n_workers(client))
        }
        for future in _arriving(futures, client):
            try:
                # What was done may be lost with its worker before it is fetched; without another one it never comes.
                results = future.result(timeout=SECONDS_TO_RETURN)
            except lost as error:
                why = str(error) or type(error).__name__
                continue
            for key, result in zip(futures[future], results, strict=True):
                # Taken off before it is counted: none can come twice.
                del left[key]
                done(key, result)
            # Frees the results on the cluster; the caller has them now.
            future.release()
    except (CommClosedError, TimeoutError) as error:
        why = str(error) or type(error).__name__
    return why


def _arriving(futures: Mapping[Any, object], client: Any) -> Iterator[Any]:
    """Futures as they are completed.

    Raises:
        TimeoutError: there is no worker any more, and none came back.
    """
    from distributed import as_completed

    left = dict.fromkeys(futures)
    while left:
        try:
            for future in as_completed(left, timeout=SECONDS_TO_RETURN):
                del left[future]
                yield future
        except TimeoutError:
            # Tasks may take as long; without workers nothing would ever arrive, and nobody would say so.
            if not _n_workers(client):
                raise TimeoutError("no worker is left") from None


def _n_workers(client: Any) -> int:
    try:
        return len(client.ncores())
    # Without its scheduler: the client gives up in many ways.
    except Exception:
        return 0


def _packed(keys: Sequence[Key], n_workers: int) -> Iterator[Sequence[Key]]:
    """Keys whose tasks travel together."""
    first = 0
    while first < len(keys):
        size = max(1, min(MOST_IN_PACK, (len(keys) - first) // (PACKS_PER_WORKER * max(1, n_workers))))
        yield keys[first : first + size]
        first += size


def _pack(work: Callable[..., Result], shared: object, tasks: Sequence[tuple[Any, ...]]) -> list[Result]:
    return [work(shared, *task) for task in tasks]


def _wait_for_workers(client: Any, n_left: int, why: str) -> None:
    try:
        client.wait_for_workers(1, timeout=SECONDS_TO_RETURN)
    # The client gives up in many ways: closed, timed out, refused.
    except Exception as error:
        raise IdentificationError(
            f"the scheduler or its workers are gone with {n_left} units left ({why or error}); start them and run "
            "again: a checkpoint keeps what was condensed"
        ) from None
