"""Watches a database: tunes it when its workload changes, applies the result, and rolls it back if worse."""

import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import platformdirs

from rocktune.api.system_errors import shortages_as_transient, system_errors_named
from rocktune.api.watch_options import (
    checked_file,
    listed,
    missing_options,
    options_path,
    proposed_options,
    refuse_another,
    states,
    undo_options,
    watched_database,
    watching_alone,
    write_options,
)
from rocktune.api.watch_studies import (
    WatchedStore,
    new_study_name,
    outcome_of,
    proof_sentence,
    recorded_study,
    run_study,
    settings_digest,
    study_spec,
    watched_study,
)
from rocktune.deploy import read_watched
from rocktune.deploy.watch import (
    WINDOW_INTERVALS,
    Hours,
    Interval,
    Journal,
    Phase,
    Row,
    Step,
    StudyResult,
    WatchState,
    application_waits_for,
    applying,
    disturbed,
    intervals_after,
    not_taken,
    noticed,
    observed_all,
    overtaken,
    postponed,
    retried,
    rows_of,
    tuned,
    tuning_began,
    undecided,
    written,
)
from rocktune.errors import UserError
from rocktune.importing.logs import DumpMark, read_log, read_log_after
from rocktune.study import StudySpec
from rocktune.units import parse_seconds

_MAX_INTERVAL_S = 7 * 86400.0

Notify = Callable[[str], None]


@dataclass(frozen=True)
class WatchPass:
    """What one look at a database found.

    Attributes:
        state: the state after it.
        rows: the steps that it took.
        waits_for: what the next step waits for, in a sentence; empty if nothing is due.
    """

    state: WatchState
    rows: tuple[str, ...]
    waits_for: str


def watch_directory(study: str) -> Path:
    """Returns the directory of the watch with a study's settings."""
    return Path(platformdirs.user_data_dir("rocktune")) / "watch" / study


def watch_json(found: WatchPass) -> dict[str, Any]:
    """Returns a look's result as JSON data: `phase`, `workload`, `verdict`, options, `steps`, `waits_for`."""
    current = found.state.current
    return {
        "phase": str(found.state.phase),
        "workload": current.number,
        "verdict": str(current.verdict),
        "live": current.live,
        "in_force": found.state.in_force,
        "steps": list(found.rows),
        "waits_for": found.waits_for,
    }


def watch_journal(study: str) -> Iterator[Row]:
    """Yields the rows of a watch's journal.

    Raises:
        UserError: nothing watches under this name, or the journal cannot be read.
    """
    return rows_of(watch_directory(study))


def watch(
    log: str | Path,
    study: str,
    *,
    apply: str | Path | None = None,
    hours: str | None = None,
    budget: str | None = None,
    interval: str | float = "10m",
    ledger: str | None = None,
    once: bool = False,
    notify: Notify = lambda _: None,
) -> Iterator[WatchPass]:
    """Yields a result for each look at a database, whose LOG is only read.

    Args:
        log: the LOG in the database's directory.
        study: the study whose settings the studies of the watch repeat.
        apply: the file that the database's program watches; None applies nothing.
        hours: hours of the day in which studies may run, such as "22-06"; None for all.
        budget: time of measuring of each search ("10m"); None for the study's own.
        interval: time between two looks, from 1 s to a week.
        ledger: URL or SQLite file; None for the user's own.
        once: look once and end.
        notify: is called with each step, in a sentence.

    Raises:
        UserError: an argument is invalid, no study can be made of the present load, the LOG cannot be read or
            has no statistics, or another process watches. After the first look, such an error is passed to
            `notify`, and the watch goes on.
    """
    pause_s = parse_seconds(interval, "interval")
    if not 1 <= pause_s <= _MAX_INTERVAL_S:
        bound = "below 1 s" if pause_s < 1 else "above a week"
        raise UserError(f"interval: {interval} is {bound}; a LOG has statistics every few minutes")
    if budget is not None:
        parse_seconds(budget, "budget")
    database = watched_database(Path(log))
    base = watched_study(study, ledger)
    watcher = _Watch(
        database=database,
        base=base,
        settings=settings_digest(base, budget),
        file=None if apply is None else checked_file(Path(apply)),
        hours=Hours.parse(hours),
        budget=budget,
        ledger=ledger,
        notify=notify,
    )
    with watching_alone(database, watcher.file), closing(Journal(watch_directory(study))) as journal:
        if journal.state is not None:
            refuse_another(journal.state.database, database, journal.directory)
            again = retried(journal.state, watcher.settings)
            if again is not None:
                journal.add(again.state, again.notes)
        # A watch that goes on may have options to roll back, which must not wait for memory or budgets.
        if journal.state is None:
            watcher.check()
        with system_errors_named():
            found = watcher.look(journal)
        yield found
        while not once:
            time.sleep(pause_s)
            try:
                with system_errors_named():
                    found = watcher.look(journal)
                yield found
            except UserError as error:
                # Such as a LOG that is missing while the program starts again.
                notify(str(error))


@dataclass(frozen=True)
class _Watch:
    """The settings of a watch, and what it does to the world.

    Attributes:
        database: directory of the database.
        base: the study whose settings count.
        settings: their digest.
        file: the watched file to write; None applies nothing.
        hours: hours of the day for studies.
        budget: time of measuring of each search; None for the study's own.
        ledger: URL or SQLite file; None for the user's own.
        notify: is called with each step.
    """

    database: Path
    base: StudySpec
    settings: str
    file: Path | None
    hours: Hours
    budget: str | None
    ledger: str | None
    notify: Notify

    def check(self) -> None:
        """Raises UserError if no study can be made of the load that the LOG shows now.

        Otherwise a budget or a memory below the study's minimum would show only when the workload changes. A
        store without operations is not checked.
        """
        document = read_log([self.database])
        shown = _of_last_opening(intervals_after(document, None))
        if not any(each.reads or each.writes or each.seeks for each in shown):
            return
        with tempfile.TemporaryDirectory(prefix="rocktune-watch-") as directory:
            store = WatchedStore(self.database, document, shown, Path(directory))
            study_spec(self.base, new_study_name(self.base.name, 0), store, self.budget, self.ledger)

    def look(self, journal: Journal) -> WatchPass:
        """Reads the LOG and does what is due, until nothing is or something has to be waited for."""
        rows: list[str] = []
        if journal.state is None:
            in_force = read_watched(options_path(self.database, self.file))
            journal.add(WatchState(database=str(self.database), in_force=in_force), ())
        while True:
            assert journal.state is not None
            # Read again each time: a study takes hours, in which the workload may have changed.
            step = observed_all(journal.state, self._unread(journal.state))
            if not step.intervals:
                acted = self._act(journal)
                if isinstance(acted, str):
                    return WatchPass(journal.state, tuple(rows), acted)
                step = acted
            journal.add(step.state, step.notes, step.intervals)
            for note in step.notes:
                rows.append(f"{note.event}: {note.text}")
                self.notify(rows[-1])

    def _unread(self, state: WatchState) -> tuple[Interval, ...]:
        """Returns the intervals that were not read yet; of a new watch, those of the last opening."""
        if state.seen is None:
            return _of_last_opening(intervals_after(read_log([self.database]), None))
        mark = DumpMark(state.seen.session, state.seen.uptime_s)
        return intervals_after(read_log_after(self.database, mark), state.seen)

    def _act(self, journal: Journal) -> Step | str:
        """Does what the state calls for, and returns the step; a sentence if there is nothing to do yet."""
        state = journal.state
        assert state is not None
        if state.phase is Phase.APPLYING:
            write_options(self.database, Path(state.file), state.current.live)
            return written(state, len(self._unread(state)))
        if state.phase is Phase.ROLLING_BACK:
            return self._roll_back(state)
        if self.file is not None and state.phase in (Phase.TUNING, Phase.PROPOSED):
            present, is_known = states(self.database, self.file, state.in_force)
            if not is_known:
                return noticed(state, present)
        if state.phase is Phase.TUNING:
            return self._tune(journal)
        if state.phase is Phase.PROPOSED:
            return self._propose(state, journal.directory)
        if state.phase is Phase.APPLIED and len(state.after) >= WINDOW_INTERVALS:
            missing = missing_options(self.database, state.current.live, journal.directory)
            if missing:
                return not_taken(state, ", ".join(missing))
        return ""

    def _roll_back(self, state: WatchState) -> Step:
        """Restores the earlier options, unless somebody else has replaced the watched file."""
        path = Path(state.file)
        present, is_known = states(self.database, path, state.in_force, state.undo)
        if not is_known:
            return overtaken(state, present, len(self._unread(state)))
        write_options(self.database, path, state.undo)
        return written(state, len(self._unread(state)))

    def _propose(self, state: WatchState, directory: Path) -> Step | str:
        """Returns the step before the proposed options are written."""
        if self.file is None:
            options = listed(state.current.live)
            return f"Options are proposed and not applied; --apply FILE applies them: {options}"
        waits_for = application_waits_for(state)
        if waits_for:
            return waits_for
        undo = undo_options(self.database, state.current.live, state.in_force, directory)
        return applying(state, undo, str(self.file))

    def _tune(self, journal: Journal) -> Step | str:
        """Runs the study of the present workload, or as much of it as the hours allow."""
        state = journal.state
        assert state is not None
        if not self.hours.contains(datetime.now()):
            return f"The study waits for the hours {self.hours}."
        # Texts of this form are in the order of time.
        if f"{datetime.now():%Y-%m-%d %H:%M}" < state.current.retry_at:
            return f"The study is tried again from {state.current.retry_at} on."
        number, name = state.current.number, state.current.study
        if not name:
            return tuning_began(state, new_study_name(self.base.name, number))
        try:
            with shortages_as_transient():
                document = read_log([self.database])
                store = WatchedStore(self.database, document, state.current.intervals, journal.directory)
                spec = recorded_study(name, self.ledger) or study_spec(
                    self.base, name, store, self.budget, self.ledger
                )
                is_finished = run_study(spec, self.ledger, journal.directory, self._may_run)
        except UserError as error:
            step = postponed(state, str(error), self._retry_at(), self.settings)
        else:
            # Without its end, the next call waits for the hours.
            step = Step(state)
            if is_finished:
                result = self._result(name, state, journal.directory)
                if result.is_undecided:
                    step = undecided(state, result.proof, self._retry_at(), self.settings)
                else:
                    step = tuned(state, number, result)
        return disturbed(step, len(self._unread(state)))

    def _retry_at(self) -> str:
        """Returns when a study is tried again, as in `Workload.retry_at`."""
        return f"{self.hours.next_begin(datetime.now()):%Y-%m-%d %H:%M}"

    def _may_run(self) -> bool:
        return self.hours.contains(datetime.now())

    def _result(self, name: str, state: WatchState, directory: Path) -> StudyResult:
        """Returns what a finished study means for the watched file."""
        found = outcome_of(name, self.ledger)
        assert found is not None
        outcome, options_text = found
        sentence = proof_sentence(name, outcome)
        if outcome.reason:
            return StudyResult(None, sentence, is_undecided=True)
        if not options_text:
            return StudyResult(None, sentence)
        live = proposed_options(self.database, options_text, state.in_force, directory)
        if live == state.in_force:
            return StudyResult(None, f"{sentence} All of its options are in force.")
        return StudyResult(live, f"{sentence} {listed(live)}")


def _of_last_opening(intervals: tuple[Interval, ...]) -> tuple[Interval, ...]:
    """Returns the intervals since the database was opened last."""
    return tuple(each for each in intervals if each.end.session == intervals[-1].end.session)
