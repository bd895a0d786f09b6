"""What can be named: each name with one line about it."""

from rocktune.device import device_names
from rocktune.space import space_names
from rocktune.study import engine_names
from rocktune.tuners import tuner_names
from rocktune.workload import workload_names


def list_workloads() -> dict[str, str]:
    """Returns the workloads that have names."""
    return workload_names()


def list_devices() -> dict[str, str]:
    """Returns the devices that have names."""
    return device_names()


def list_engines() -> dict[str, str]:
    """Returns what can measure."""
    return engine_names()


def list_spaces() -> dict[str, str]:
    """Returns the spaces that have names."""
    return space_names()


def list_tuners() -> dict[str, str]:
    """Returns the tuners."""
    return tuner_names()
