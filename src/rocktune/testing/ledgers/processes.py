"""Conformance tests of what several threads and processes do to a ledger at once."""

import multiprocessing
import os
import signal
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection

import pytest

from rocktune.errors import UserError
from rocktune.ledger import Ledger, StudyRecord, open_ledger
from rocktune.testing.ledgers.common import FIRST, SPEC, LedgerFixtures, record_measured
from rocktune.testing.synthetic import synthetic_window
from rocktune.trial import Configuration, Status, Trial


def _hold_lock(url: str, name: str, ready: Connection) -> None:
    """Takes the study's lock in a process of its own and holds it until that is killed."""
    with open_ledger(url) as ledger, ledger.lock(ledger.study(name)):
        ready.send(os.getpid())
        signal.pause()


def _record_until_killed(url: str, name: str, ready: Connection) -> None:
    """Records trials one after the other in a process of its own until that is killed."""
    with open_ledger(url) as ledger:
        study = ledger.study(name)
        for batch in range(10_000):
            record_measured(
                ledger, study, batch, Trial(FIRST, batch + 1.0), synthetic_window(batch, batch + 1.0)
            )
            if batch == 5:
                ready.send(os.getpid())


class ProcessTests(LedgerFixtures):
    """Tests of locks, of writers side by side, and of killed writers."""

    @pytest.mark.usefixtures("ledger")
    def test_studies_are_recorded_side_by_side(self, ledger_url: str) -> None:
        """Threads record studies of one experiment while others are created and deleted."""

        def record(name: str) -> None:
            with open_ledger(ledger_url) as ledger:
                study = ledger.create_study(name, SPEC)
                for batch in range(10):
                    trial = Trial(Configuration({"n": batch}), 1.0)
                    record_measured(ledger, study, batch, trial, synthetic_window(0.0, 1.0))
                assert ledger.spent_s(study, "search") == 10.0

        def create_and_delete(name: str) -> None:
            with open_ledger(ledger_url) as ledger:
                for _ in range(10):
                    ledger.create_study(name, SPEC)
                    ledger.delete_study(name)

        jobs = [(record, "one"), (record, "two"), (create_and_delete, "three"), (create_and_delete, "four")]
        with ThreadPoolExecutor(len(jobs)) as pool:
            for future in [pool.submit(job, name) for job, name in jobs]:
                future.result()

    def test_one_writer_per_study(self, ledger: Ledger, study: StudyRecord) -> None:
        """A lock excludes the same process too, prevents deletion, and ends with its context."""
        other = ledger.create_study("other", SPEC)
        with ledger.lock(study), ledger.lock(other):
            with (
                pytest.raises(UserError, match="'study' is being run by another process"),
                ledger.lock(study),
            ):
                pass
            with pytest.raises(UserError, match="is being run"):
                ledger.delete_study("study")
        with ledger.lock(study):
            pass

    def test_a_killed_process_loses_its_lock(
        self, ledger: Ledger, study: StudyRecord, ledger_url: str
    ) -> None:
        """The error names the study and the lock's holder, and kill -9 of the holder releases the lock."""
        process, pid = _started(_hold_lock, ledger_url)
        refused = rf"'study' is being run .*{self.holder(pid)}"
        with pytest.raises(UserError, match=refused), ledger.lock(study):
            pass
        process.kill()
        process.join()
        lock_when_freed(ledger, study)

    def holder(self, pid: int) -> str:
        """Returns a pattern for the error's text about the process `pid` that holds a lock."""
        return rf"pid {pid}\b"

    def test_a_killed_process_leaves_whole_trials(
        self, ledger: Ledger, study: StudyRecord, ledger_url: str
    ) -> None:
        """Trials of a killed process are complete, and recording continues after the last one."""
        process, _ = _started(_record_until_killed, ledger_url)
        process.kill()
        process.join()
        records = ledger.trials(study)
        assert len(records) >= 6
        assert [record.batch for record in records] == list(range(len(records)))
        assert all(record.measurement is not None for record in records)
        age, following = len(records), Trial(FIRST, len(records) + 1.0)
        if ledger.planned_batch(study, age) is None:
            ledger.plan_batch(study, "search", age, [following])
        ledger.record(study, age, 0, following, synthetic_window(age, age + 1.0), Status.OK, seconds=1.0)
        assert ledger.run_age(study, FIRST, 0) == age + 1.0


def _started(target: object, url: str) -> tuple[multiprocessing.Process, int]:
    """Starts `target(url, "study", pipe)` in a new process; returns it with the pid that it sends."""
    # A forked process would inherit the connections and locks that it is to compete for.
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=target, args=(url, "study", theirs), daemon=True)  # type: ignore[arg-type]
    process.start()
    theirs.close()
    return process, ours.recv()  # type: ignore[return-value]


def lock_when_freed(ledger: Ledger, study: StudyRecord) -> None:
    """Takes the lock, with up to 10 s of retries: a server takes time to notice that its client is gone."""
    for attempt in range(100):
        try:
            with ledger.lock(study):
                return
        except UserError:
            if attempt == 99:
                raise
            signal.sigtimedwait([], 0.1)
