"""Bringing new options to a database that exists: the plan, and the file that a running program watches."""

from rocktune.deploy.plan import LevelBytes, PlannedChange, PlanNote, Rewrite, RolloutPlan, Way
from rocktune.deploy.planning import RunningRocksDb, plan_of
from rocktune.deploy.running import RunningStore, running_store
from rocktune.deploy.watched import WATCHED_FILE, read_watched, watched_text, write_watched

__all__ = [
    "WATCHED_FILE",
    "LevelBytes",
    "PlanNote",
    "PlannedChange",
    "Rewrite",
    "RolloutPlan",
    "RunningRocksDb",
    "RunningStore",
    "Way",
    "plan_of",
    "read_watched",
    "running_store",
    "watched_text",
    "write_watched",
]
