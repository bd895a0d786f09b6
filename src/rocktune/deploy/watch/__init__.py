"""Watching a database: finding that its workload changed, and what to do then."""

from rocktune.deploy.watch.figures import WINDOW_INTERVALS, Worse, worse_figures
from rocktune.deploy.watch.hours import Hours
from rocktune.deploy.watch.interval import Interval, Mark, intervals_after
from rocktune.deploy.watch.journal import Journal, Row, rows_of
from rocktune.deploy.watch.machine import (
    application_waits_for,
    applying,
    not_taken,
    observed_all,
    overtaken,
    written,
)
from rocktune.deploy.watch.replaced import noticed
from rocktune.deploy.watch.state import Live, Phase, Verdict, WatchState, Workload
from rocktune.deploy.watch.step import Note, Step, StudyResult
from rocktune.deploy.watch.tuning import disturbed, postponed, retried, tuned, tuning_began, undecided

__all__ = [
    "WINDOW_INTERVALS",
    "Hours",
    "Interval",
    "Journal",
    "Live",
    "Mark",
    "Note",
    "Phase",
    "Row",
    "Step",
    "StudyResult",
    "Verdict",
    "WatchState",
    "Workload",
    "Worse",
    "application_waits_for",
    "applying",
    "disturbed",
    "intervals_after",
    "not_taken",
    "noticed",
    "observed_all",
    "overtaken",
    "postponed",
    "retried",
    "rows_of",
    "tuned",
    "tuning_began",
    "undecided",
    "worse_figures",
    "written",
]
