"""Bringing new options to a database that exists: the plan, and the file that a running program watches."""

from rocktune.deploy.migration import Migration, MigrationOptions, migration_options, rewritten_families
from rocktune.deploy.plan import LevelBytes, PlannedChange, PlanNote, Rewrite, RolloutPlan, Way
from rocktune.deploy.planning import RunningRocksDb, plan_of
from rocktune.deploy.running import RunningStore, running_store
from rocktune.deploy.watched import WATCHED_FILE, read_watched, watched_text, write_watched

__all__ = [
    "WATCHED_FILE",
    "LevelBytes",
    "Migration",
    "MigrationOptions",
    "PlanNote",
    "PlannedChange",
    "Rewrite",
    "RolloutPlan",
    "RunningRocksDb",
    "RunningStore",
    "Way",
    "migration_options",
    "plan_of",
    "read_watched",
    "rewritten_families",
    "running_store",
    "watched_text",
    "write_watched",
]
