"""The executor whose lanes are actors of a Ray cluster, one for each unit of the resource `rocksdb`.

Ray places actors and reports lost ones. It does not restart actors or retry calls, because a new actor lacks
the parked runs of the old one, and the driver has to know.
"""

import importlib.util
import logging
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from rocktune.engine.base import Engine
from rocktune.errors import UserError
from rocktune.study.executors.base import Executor
from rocktune.study.executors.machine import Hello, Machine, rocktune_version
from rocktune.study.executors.ray_lane import RayLane, kill, one_line

RESOURCE = "rocksdb"
"""Name of the Ray resource. A node offers one unit for each disk on which it can measure at the same time."""

_START = f"""start its nodes with: ray start --resources='{{"{RESOURCE}": 1}}'"""
_ALL_JOIN_S = 30.0
"""Seconds that the start of a study waits for further machines after the first one has joined."""
_ONE_JOINS_S = 120.0
_UPDATE_EVERY_S = 5.0
_CLOSE_TIMEOUT_S = 10.0
_PROBE_TIMEOUT_S = 10.0


@contextmanager
def opened_cluster(make_engine: Callable[[], Engine], address: str | None) -> Iterator[Executor]:
    """Joins a Ray cluster for the context. If this process has joined one already, it uses that.

    Args:
        make_engine: returns an open engine of the machine that calls it; Ray pickles it.
        address: "HOST:PORT"; None for the cluster that this machine is part of.

    Yields:
        The executor.

    Raises:
        UserError: Ray is not installed, the cluster cannot be reached or offers no `rocksdb`, a machine
            cannot open the engine, or machines have different versions of rocktune or RocksDB.
    """
    if importlib.util.find_spec("ray") is None:
        raise UserError("executor ray: Ray is not installed; 'pip install rocktune[ray]'")
    import ray

    joined = not ray.is_initialized()
    if joined:
        _join(address)
    try:
        with closing(RayExecutor(make_engine, address)) as executor:
            yield executor
    finally:
        if joined:
            ray.shutdown()


def _join(address: str | None) -> None:
    """Joins the cluster at an address, or this machine's; raises UserError if that fails."""
    import ray

    where = f"at {address}" if address else "on this machine"
    if address is not None:
        _probe(address)
    _keep_off_stdout()
    try:
        ray.init(address=address or "auto", log_to_driver=False, logging_level=logging.ERROR)
    except Exception as failure:
        # Ray raises at least ConnectionError, ValueError, and RuntimeError for another version of Ray or
        # Python.
        raise UserError(f"executor ray: no Ray cluster {where} can be joined: {one_line(failure)}") from None


def _keep_off_stdout() -> None:
    """Stops Ray from printing messages about lost nodes on the standard output of this process.

    With --json, standard output holds one document. Ray has no setting for these messages; `log_to_driver`
    covers only the output of actors. The study reports lost lanes itself.
    """
    import ray._private.worker as worker

    if hasattr(worker, "print_to_stdstream"):
        worker.print_to_stdstream = lambda *_, **__: None


def _probe(address: str) -> None:
    """Raises UserError unless something listens at an address. Ray itself takes minutes to give up."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not port.isdigit():
        raise UserError(
            f"address: '{address}' is malformed; write HOST:PORT, as 'ray start --head' prints it"
        )
    try:
        socket.create_connection((host, int(port)), _PROBE_TIMEOUT_S).close()
    except OSError as failure:
        reason = failure.strerror or "no answer"
        raise UserError(f"executor ray: no Ray cluster at {address} can be reached: {reason}") from None


@dataclass
class _StartingActor:
    """An actor that is starting on a node.

    Attributes:
        actor: Ray's handle of an actor of class `Machine`.
        node: Ray's ID of the node.
        name: name of the lane, for people.
        rocktune: Ray's reference to the actor's version of rocktune.
        hello: Ray's reference to the actor's `Hello`.
    """

    actor: Any
    node: str
    name: str
    rocktune: Any
    hello: Any


class RayExecutor(Executor):
    """An executor on the cluster that this process has joined; see `Executor`.

    Nodes that join the cluster later become lanes when they join.
    """

    is_parallel = True

    def __init__(self, make_engine: Callable[[], Engine], address: str | None) -> None:
        """Starts an actor for each unit of the resource and waits for them; see `opened_cluster`."""
        self.arguments = "--executor ray" + (f" --address {address}" if address else "")
        self._make_engine = make_engine
        self._lanes: list[RayLane] = []
        self._ever: list[RayLane] = []
        self._invited: list[_StartingActor] = []
        self._refusals: dict[str, str] = {}
        self._names: dict[str, int] = {}
        self._next_update_s = 0.0
        self.version, self.file_system, self.can_park = "", "", False
        try:
            self._begin()
        except BaseException:
            self.close()
            raise

    def lanes(self) -> Sequence[RayLane]:
        """See `Executor.lanes`."""
        known = len(self._lanes)
        self._lanes = [lane for lane in self._lanes if not lane.lost]
        if len(self._lanes) < known or time.monotonic() >= self._next_update_s:
            self._update_nodes()
        self._accept_ready(0.0)
        deadline_s = time.monotonic() + _ONE_JOINS_S
        while not self._lanes and self._invited and time.monotonic() < deadline_s:
            self._accept_ready(1.0)
            self._update_nodes()
        if not self._lanes:
            why = "".join(f" ({refusal})" for refusal in [*self._refusals.values()][-1:])
            raise UserError(
                f"executor ray: no machine that offers '{RESOURCE}' is left{why}; "
                "resume the study when there is one"
            )
        return list(self._lanes)

    @property
    def opening_s(self) -> float:
        """See `Executor.opening_s`."""
        return sum(lane.opening_s for lane in self._ever)

    @property
    def loading_s(self) -> float:
        """See `Executor.loading_s`."""
        return sum(lane.loading_s for lane in self._ever)

    def close(self) -> None:
        """Closes the engines of all lanes and ends the actors. Idempotent; never raises."""
        import ray

        with suppress(Exception):
            closed = [lane.closing() for lane in self._lanes if not lane.lost]
            if closed:
                ray.wait(closed, num_returns=len(closed), timeout=_CLOSE_TIMEOUT_S)
        for lane in self._lanes:
            lane.abandon()
        for invited in self._invited:
            kill(invited.actor)
        self._lanes, self._invited = [], []

    def _begin(self) -> None:
        """Waits for the first actors; raises UserError if one cannot work or none is ready."""
        self._update_nodes()
        if not self._invited:
            raise UserError(f"executor ray: no machine of the cluster offers '{RESOURCE}'; {_START}")
        began_s = time.monotonic()
        while self._invited:
            self._accept_ready(0.5)
            if self._refusals:
                raise UserError(f"executor ray: {next(iter(self._refusals.values()))}")
            waited_s = time.monotonic() - began_s
            if waited_s > (_ALL_JOIN_S if self._lanes else _ONE_JOINS_S):
                break
        if not self._lanes:
            raise UserError(
                f"executor ray: no machine was ready within {_ONE_JOINS_S:.0f} s; another study may hold "
                f"all of the cluster's '{RESOURCE}' ('ray status' shows it)"
            )

    def _update_nodes(self) -> None:
        """Drops the lanes of nodes that have left the cluster, and starts actors on new nodes."""
        import ray

        self._next_update_s = time.monotonic() + _UPDATE_EVERY_S
        nodes = {node["NodeID"]: node for node in ray.nodes() if node["Alive"]}
        for lane in self._lanes:
            lane.lost = lane.lost or lane.node not in nodes
        self._lanes = [lane for lane in self._lanes if not lane.lost]
        for name, node in nodes.items():
            units = int(node["Resources"].get(RESOURCE, 0))
            here = [each.node for each in self._lanes] + [each.node for each in self._invited]
            if name not in self._refusals:
                for _ in range(units - here.count(name)):
                    self._invite(name, node["NodeManagerHostname"], units)

    def _invite(self, node: str, host: str, lanes_here: int) -> None:
        """Starts an actor on a node."""
        import ray
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        placed = ray.remote(Machine).options(
            num_cpus=1,
            resources={RESOURCE: 1},
            max_restarts=0,
            max_task_retries=0,
            # Not soft: on another node the actor would share the disk of that node's actor.
            scheduling_strategy=NodeAffinitySchedulingStrategy(node, soft=False),
        )
        actor = placed.remote()
        self._names[host] = self._names.get(host, 0) + 1
        name = f"{host}-{self._names[host]}"
        version = actor.rocktune.remote()
        hello = actor.begin.remote(self._make_engine, lanes_here)
        self._invited.append(_StartingActor(actor, node, name, version, hello))

    def _accept_ready(self, timeout_s: float) -> None:
        """Makes lanes of the actors that are ready, and keeps the reasons of those that cannot work.

        Args:
            timeout_s: maximum seconds to wait for the first one.
        """
        import ray

        if not self._invited:
            return
        ready, _ = ray.wait([invited.hello for invited in self._invited], timeout=timeout_s)
        for invited in [each for each in self._invited if each.hello in ready]:
            self._invited.remove(invited)
            refusal = self._refusal_of(invited)
            if refusal is None:
                lane = RayLane(invited.actor, invited.node, invited.name)
                self._lanes.append(lane)
                self._ever.append(lane)
            else:
                kill(invited.actor)
                if refusal:
                    self._refusals[invited.node] = f"{invited.name}: {refusal}"

    def _refusal_of(self, invited: _StartingActor) -> str | None:
        """Returns one line that says why an actor cannot work; "" if it is gone, None if it can work."""
        import ray
        from ray.exceptions import ActorUnschedulableError, RayError

        try:
            theirs, ours = ray.get(invited.rocktune), rocktune_version()
            if theirs != ours:
                return f"has rocktune {theirs}, and this machine {ours}; install the same on all"
            hello: Hello = ray.get(invited.hello)
        # The node left the cluster before the actor was placed on it.
        except ActorUnschedulableError:
            return ""
        except RayError as failure:
            alive = {node["NodeID"] for node in ray.nodes() if node["Alive"]}
            needed = f"rocktune {rocktune_version()} must be installed there"
            return f"{needed}: {one_line(failure)}" if invited.node in alive else ""
        if hello.refused:
            return hello.refused
        # Figures of different versions of RocksDB do not compare.
        if self._ever and hello.version != self.version:
            return f"has {hello.version}, and others {self.version}; a study needs the same on all"
        if self._ever and hello.file_system != self.file_system:
            return (
                f"has its data on {hello.file_system or 'an unknown file system'}, and others on "
                f"{self.file_system or 'an unknown one'}; set ROCKTUNE_DATA there to a directory on the same"
            )
        self.version, self.file_system = hello.version, hello.file_system
        self.can_park = hello.can_park
        return None
