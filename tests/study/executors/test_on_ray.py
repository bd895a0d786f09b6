"""A Ray cluster of several nodes on this machine; pytest -m ray, where Ray is installed."""

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from rocktune.engine import Engine
from rocktune.errors import UserError
from rocktune.ledger import Ledger
from rocktune.study import run_study
from rocktune.study.executors import Executor
from rocktune.study.executors.machine import Machine
from rocktune.study.executors.on_ray import RayExecutor, opened_cluster
from rocktune.study.executors.ray_lane import RayLane
from rocktune.testing.executors import (
    Executing,
    ExecutorConformance,
    Watching,
    plain_engine,
    recorded,
    small_study,
    timeless,
)
from rocktune.testing.synthetic_engine import SyntheticEngine

pytestmark = [
    pytest.mark.ray,
    pytest.mark.timeout(900),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """A head without disks, and three nodes that have one each."""
    pytest.importorskip("ray", reason="Ray is not installed")
    import ray
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    for _ in range(3):
        cluster.add_node(num_cpus=1, resources={"rocksdb": 1})
    cluster.wait_for_nodes()
    yield cluster
    ray.shutdown()
    cluster.shutdown()


@pytest.fixture
def executing(cluster: Any) -> Executing:
    return partial(opened_cluster, address=cluster.address)


class TestRay(ExecutorConformance):
    @pytest.fixture
    def executing(self, executing: Executing) -> Executing:
        return executing

    def lose_a_lane(self, executor: Executor) -> None:
        """Its process ends, and its node starts another."""
        import ray

        lane = executor.lanes()[1]
        assert isinstance(lane, RayLane)
        ray.kill(lane._actor)


def test_a_node_removed_in_mid_study_and_one_that_comes(
    cluster: Any, executing: Executing, ledger: Ledger, tmp_path: Path
) -> None:
    spec = small_study()
    added = cluster.add_node(num_cpus=1, resources={"rocksdb": 1})
    cluster.wait_for_nodes()

    def exchange() -> None:
        cluster.remove_node(added, allow_graceful=False)
        cluster.add_node(num_cpus=1, resources={"rocksdb": 1})

    watching = Watching(25, exchange)
    with executing(plain_engine) as executor:
        machines = {lane.machine for lane in executor.lanes()}
        assert len(machines) == 4
        outcome = run_study(spec, executor, ledger, watching)
        assert isinstance(executor, RayExecutor)
        _wait_until(lambda: len(executor.lanes()) == 4)
        assert {lane.machine for lane in executor.lanes()} != machines
    whole = ledger.study("study")
    result = timeless(outcome), recorded(ledger)
    ledger.delete_study(whole.name)
    assert result == (timeless(run_study(spec, plain_engine(), ledger)), recorded(ledger))


def _wait_until(holds: Any) -> None:
    deadline_s = time.monotonic() + 120
    while not holds():
        assert time.monotonic() < deadline_s
        time.sleep(0.5)


DRIVER = """
import sys, time
from rocktune.ledger import open_ledger
from rocktune.study import run_study
from rocktune.study.executors.on_ray import opened_cluster
from rocktune.testing.executors import small_study
from tests_engine import engine
with opened_cluster(engine, sys.argv[1]) as executor, open_ledger(sys.argv[2]) as ledger:
    print("begun", flush=True)
    run_study(small_study(), executor, ledger)
"""
ENGINE = """
from rocktune.testing.executors import response
from rocktune.testing.synthetic_engine import SyntheticEngine
def engine():
    return SyntheticEngine(response, pause_s=lambda _: 3600.0)
"""


def test_lanes_end_with_a_driver_that_is_killed(cluster: Any, executing: Executing, tmp_path: Path) -> None:
    import psutil

    (tmp_path / "driver.py").write_text(DRIVER)
    (tmp_path / "tests_engine.py").write_text(ENGINE)
    driver = subprocess.Popen(
        [sys.executable, str(tmp_path / "driver.py"), cluster.address, str(tmp_path / "ledger.sqlite")],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert driver.stdout is not None
        # Nothing of Ray's own, which by now knows of a node that was lost.
        assert driver.stdout.readline() == "begun\n"
        _wait_until(lambda: len(_actors(psutil)) >= 3)
    finally:
        driver.kill()
        driver.communicate()
    _wait_until(lambda: not _actors(psutil))


def _actors(psutil: Any) -> list[Any]:
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if process.status() != psutil.STATUS_ZOMBIE and "ray::Machine" in " ".join(process.cmdline()):
                found.append(process)
    return found


def test_a_cluster_that_does_not_suit_is_refused_in_one_line(
    cluster: Any, executing: Executing, monkeypatch: pytest.MonkeyPatch
) -> None:
    from rocktune.study.executors import on_ray

    monkeypatch.setattr(on_ray, "rocktune_version", lambda: "99.0")
    with (
        pytest.raises(UserError, match=r"has rocktune .*, and this machine 99\.0") as refused,
        executing(plain_engine),
    ):
        pass
    assert "\n" not in str(refused.value)
    monkeypatch.setattr(on_ray, "RESOURCE", "other")
    with pytest.raises(UserError, match="no machine of the cluster offers 'other'"), executing(plain_engine):
        pass


def test_machines_with_data_on_other_file_systems_are_refused_in_one_line(
    executing: Executing, tmp_path: Path
) -> None:
    def first_on_ext4() -> Engine:
        engine = SyntheticEngine(lambda _: 1.0)
        try:
            (tmp_path / "first").touch(exist_ok=False)
            engine.file_system = "ext4"
        except FileExistsError:
            engine.file_system = "tmpfs"
        return engine

    differs = r"has its data on (tmpfs, and others on ext4|ext4, and others on tmpfs)"
    with (
        pytest.raises(UserError, match=differs) as refused,
        executing(first_on_ext4),
    ):
        pass
    assert "set ROCKTUNE_DATA there" in str(refused.value)
    assert "\n" not in str(refused.value)


def test_addresses_that_lead_nowhere_are_refused_in_one_line() -> None:
    pytest.importorskip("ray", reason="Ray is not installed")
    for address, said in (
        ("127.0.0.1:1", "no Ray cluster at 127.0.0.1:1 can be reached: Connection refused"),
        ("nowhere", "address: 'nowhere' is malformed; write HOST:PORT"),
    ):
        with pytest.raises(UserError, match=said), opened_cluster(plain_engine, address):
            pass


def test_the_actors_class_is_known_by_name_alone() -> None:
    """Machines import it, so that a rocktune of another version there says so itself."""
    assert Machine.__module__ == "rocktune.study.executors.machine"
