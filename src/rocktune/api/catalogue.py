"""Lists workloads, devices, engines, spaces and tuners by name."""

from rocktune.device import device_names
from rocktune.space import space_names
from rocktune.study import engine_names
from rocktune.tuners import tuner_names
from rocktune.workload import workload_names


def list_workloads() -> dict[str, str]:
    """Returns one line about each preset workload, by name."""
    return workload_names()


def list_devices() -> dict[str, str]:
    """Returns one line about each preset device, by name."""
    return device_names()


def list_engines() -> dict[str, str]:
    """Returns one line about each engine, by name."""
    return engine_names()


def list_spaces() -> dict[str, str]:
    """Returns one line about each preset space, by name."""
    return space_names()


def list_tuners() -> dict[str, str]:
    """Returns one line about each tuner, by name."""
    return tuner_names()
