"""Lists workloads, devices, engines, spaces and tuners by name."""

from rocktune.device import device_names
from rocktune.engine.libraries import buildable_versions, installed_workers
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


def list_rocksdb() -> dict[str, str]:
    """Returns the RocksDB versions that `--rocksdb` accepts and those that can be built, newest first."""
    buildable = {version: f"not built; make rocksdb VERSION={version}" for version in buildable_versions()}
    installed = {version: " ".join(command) for version, command in installed_workers().items()}
    return {str(version): text for version, text in sorted((buildable | installed).items(), reverse=True)}


def list_engines() -> dict[str, str]:
    """Returns one line about each engine, by name."""
    return engine_names()


def list_spaces() -> dict[str, str]:
    """Returns one line about each preset space, by name."""
    return space_names()


def list_tuners() -> dict[str, str]:
    """Returns one line about each tuner, by name."""
    return tuner_names()
