"""Executors measure runs on lanes of this machine or of a Ray cluster (docs/design/executors.md)."""

from rocktune.study.executors.base import Executor, Lane, LaneLost
from rocktune.study.executors.lane import EngineLane
from rocktune.study.executors.local import LocalExecutor, crowding, executor_of

__all__ = ["EngineLane", "Executor", "Lane", "LaneLost", "LocalExecutor", "crowding", "executor_of"]
