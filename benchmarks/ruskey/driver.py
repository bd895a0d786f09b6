"""Drives controllers on a store, or on a modelled store of the paper's size."""

import json
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.common.claims import Settings
from benchmarks.common.measuring import embedded_engine, processors_awake
from benchmarks.flsm.shared import ENTRY_BYTES, RUSKEY, Where, buffer_at
from benchmarks.ruskey.priced import Priced
from rocktune.device import load_device
from rocktune.engine import EmbeddedEngine
from rocktune.errors import UserError, unknown_name
from rocktune.online import DrivenMission, DriveRequest, run_drive
from rocktune.online.control import ChosenController, Controller, parse_controller
from rocktune.online.flsm import Filters, Granularity
from rocktune.online.flsm.tradeoff_map import STOCK, shape_options
from rocktune.online.modelled import ModelledStore, StoreCosts
from rocktune.space import merged_options
from rocktune.trial import OptionMaps
from rocktune.workload import WorkloadSpec, load_workload
from rocktune.workload.ruskey import ENTRIES
from rocktune.workload.sessions import SessionSpec

SIZE_RATIO = 10
ON_A_STORE = "none"
"""Value of `--costs` without a file."""

RIVALS = (*(f"leveled:{runs}" for runs in (2, 4, 8)), *(f"universal:{runs}" for runs in (2, 4, 10, 20)))
"""RocksDB's own styles, each with the numbers of level-0 tables at which it begins to merge."""

Sessions = Sequence[tuple[str | WorkloadSpec, int]]
"""Workloads, and how many missions of each."""


@dataclass(frozen=True)
class Setting:
    """The conditions of a comparison of controllers.

    Attributes:
        device: bandwidth and latency that the store's I/O may use.
        filters: filter scheme.
        bits_per_key: mean bits of filters for each key.
        absent: whether lookups ask for absent keys.
        operations: operations of a mission at full size.
        granularity: what a push moves.
        level0_runs: flushed files that may wait in level 0. The paper merges each into level 1 at once.
    """

    device: str = "cloud-gp3"
    filters: Filters = "uniform"
    bits_per_key: float = 8.0
    absent: bool = False
    operations: int = 50_000
    granularity: Granularity = "levels"
    level0_runs: int = 0


STORE_FLAGS = {"device": Setting.device, "absent": "no", "operations": Setting.operations}
"""Flags of the setting with their defaults."""
BY = ("time", "cost")
"""What a mission of a real store is judged by: its time, or its counted work at the prices of `--costs`."""
FLAGS = STORE_FLAGS | {"granularity": "files", "costs": ON_A_STORE, "by": BY[0]}
"""Those of every benchmark of controllers. RusKey's section 7 moves files, but for figure 10."""


def setting_of(settings: Settings, filters: Filters = "uniform") -> Setting:
    """Returns the setting of the flags; Monkey's filters have 4 bits, as in the paper."""
    return Setting(
        device=str(settings.extra["device"]),
        filters=filters,
        bits_per_key=4.0 if filters == "monkey" else Setting.bits_per_key,
        absent=settings.extra["absent"] == "yes",
        operations=int(settings.extra["operations"]),
        granularity=granularity_of(str(settings.extra.get("granularity", Setting.granularity))),
    )


def granularity_of(text: str) -> Granularity:
    """Returns what a push moves, from a flag; raises UserError for another word."""
    if text not in ("levels", "files"):
        raise unknown_name("granularity", text, ("levels", "files"))
    return "files" if text == "files" else "levels"


@dataclass(frozen=True)
class Driver:
    """Drives one store after the other.

    Attributes:
        settings: settings of the benchmark.
        setting: conditions of all stores.
        engine: engine of real stores; None for modelled ones.
        costs: costs of modelled stores, or prices of the work that a real store counts; None if a real store
            is judged by its time.
    """

    settings: Settings
    setting: Setting
    engine: EmbeddedEngine | None = None
    costs: StoreCosts | None = None

    @property
    def where(self) -> Where:
        """Conditions for claims."""
        if self.engine is None:
            return Where("a modelled store", self.setting.device)
        priced = "" if self.costs is None else ", work counted and priced"
        return Where(self.engine.version + priced, self.setting.device)

    def those_known(self, controllers: Iterable[str]) -> tuple[str, ...]:
        """Returns the controllers that it can drive; RocksDB's own styles are neither modelled nor priced."""
        return tuple(each for each in controllers if self.costs is None or not is_stock(each))

    def drive(self, controller: str, sessions: Sessions, seed: int) -> list[DrivenMission]:
        """Drives a store under a controller, or under one of RocksDB's own styles."""
        if self.engine is None:
            assert self.costs is not None
            return list(self._modelled(self.costs, controller, self._loaded(sessions), seed))
        request = self.request(controller, sessions, seed)
        made = None
        if not is_stock(controller):
            chosen = parse_controller(controller, SIZE_RATIO)
            made = chosen.made(self.setting.filters, seed, granularity=self.setting.granularity)
        if self.costs is None:
            with processors_awake():
                return run_drive(self.engine, request, made)
        assert made is not None
        by_cost = Priced(made, self.costs, self.setting.absent)
        return by_cost.missions(run_drive(self.engine, request, by_cost))

    def request(self, controller: str, sessions: Sessions, seed: int) -> DriveRequest:
        """Returns the drive of a real store under a controller, or under one of RocksDB's own styles."""
        chosen = None if is_stock(controller) else parse_controller(controller, SIZE_RATIO)
        return DriveRequest(
            sessions=self._loaded(sessions),
            device=load_device(self.setting.device),
            scale=self.settings.scale,
            operations=self.setting.operations,
            options=merged_options(
                RUSKEY,
                buffer_at(self.settings.scale),
                self._shape_options(controller, chosen),
            ),
            seed=seed,
        )

    def _loaded(self, sessions: Sessions) -> list[tuple[WorkloadSpec, int]]:
        return [(self._workload(workload), missions) for workload, missions in sessions]

    def _shape_options(self, controller: str, chosen: ChosenController | None) -> OptionMaps:
        """Returns the options of an FLSM store, or of one of `RIVALS`."""
        filters, bits = self.setting.filters, self.setting.bits_per_key
        if chosen is not None:
            shape = chosen.policies if isinstance(chosen.policies, str) else str(chosen.policies[0])
            pushes = {"granularity": self.setting.granularity, "level0_runs": str(self.setting.level0_runs)}
            return merged_options(shape_options(shape, filters, bits, SIZE_RATIO), {"flsm": pushes})
        style, _, runs = controller.partition(":")
        # RocksDB must not slow writes down before it merges.
        triggers = {
            "level0_file_num_compaction_trigger": runs,
            "level0_slowdown_writes_trigger": str(max(20, 2 * int(runs))),
            "level0_stop_writes_trigger": str(max(36, 3 * int(runs))),
        }
        return merged_options(shape_options(style, filters, bits, SIZE_RATIO), {"cf": triggers})

    def _workload(self, workload: str | WorkloadSpec) -> WorkloadSpec:
        loaded = load_workload(workload) if isinstance(workload, str) else workload
        return looking_for_absent_keys(loaded) if self.setting.absent else loaded

    def _modelled(
        self, costs: StoreCosts, controller: str, sessions: Sequence[tuple[WorkloadSpec, int]], seed: int
    ) -> Iterator[DrivenMission]:
        chosen = parse_controller(controller, SIZE_RATIO)
        store = ModelledStore(
            costs,
            entries=ENTRIES,
            entry_bytes=ENTRY_BYTES,
            policies=chosen.policies,
            size_ratio=SIZE_RATIO,
            filters=self.setting.filters,
            bits_per_key=self.setting.bits_per_key,
            granularity=self.setting.granularity,
            level0_runs=self.setting.level0_runs,
            absent=self.setting.absent,
            seed=seed,
        )
        shares = [(_read_share(workload), missions) for workload, missions in sessions]
        setting = self.setting
        made = chosen.made(setting.filters, seed, granularity=setting.granularity)
        return served(store, made, shares, setting.operations)


def is_stock(controller: str) -> bool:
    """Returns whether the name is one of `RIVALS`, with any number of tables."""
    style, _, runs = controller.partition(":")
    return style in STOCK and runs.isdigit()


def looking_for_absent_keys(workload: WorkloadSpec) -> WorkloadSpec:
    """Returns a workload whose lookups ask for absent keys."""

    def changed(session: SessionSpec) -> SessionSpec:
        mix = workload.mix_of(session)
        absent = mix.model_copy(update={"get": 0.0, "get_absent": mix.get + mix.get_absent})
        return session.model_copy(update={"mix": absent})

    return workload.model_copy(update={"sessions": tuple(map(changed, workload.sessions))})


@contextmanager
def driver_of(settings: Settings, setting: Setting) -> Iterator[Driver]:
    """Yields a driver of real stores; with `--costs` of modelled ones, or of real ones by `--by cost`.

    Raises:
        UserError: a flag has an unknown value, or `--by cost` has no costs.
    """
    path, by = str(settings.extra["costs"]), str(settings.extra["by"])
    if by not in BY:
        raise unknown_name("--by", by, BY)
    costs = None if path == ON_A_STORE else costs_of(path)
    if by == "cost" and costs is None:
        raise UserError("--by cost: no prices; give --costs docs/evidence/ruskey/costs/costs.json")
    if by == "time" and costs is not None:
        yield Driver(settings, setting, costs=costs)
        return
    with embedded_engine() as engine:
        yield Driver(settings, setting, engine, costs)


def costs_of(path: str) -> StoreCosts:
    """Returns the costs that `benchmarks.ruskey.costs` wrote to a file."""
    try:
        return StoreCosts(**json.loads(Path(path).read_text("utf-8")))
    except (OSError, ValueError, TypeError) as error:
        raise UserError(f"costs: {path}: {error}") from None


def served(
    store: ModelledStore, controller: Controller, sessions: Sequence[tuple[float, int]], operations: int
) -> Iterator[DrivenMission]:
    """Yields the missions of a modelled store.

    Args:
        store: the modelled store.
        controller: controller of its policies.
        sessions: share of lookups and number of missions of each session.
        operations: operations of a mission.
    """
    for number, (read_share, missions) in enumerate(sessions):
        for _ in range(missions):
            mission = store.serve(operations, read_share)
            # Processor time, because modelled stores are also driven while other programs run. Learning keeps
            # to the calling thread.
            begun_s = time.thread_time()
            decision = controller.decide(mission)
            took_ms = (time.thread_time() - begun_s) * 1e3
            for level, wanted in decision.policies.items():
                store.set_policy(level, wanted)
            yield DrivenMission(
                session=number,
                seconds=mission.busy_s,
                latency_us=mission.latency_s * 1e6,
                read_share=mission.read_share,
                policies=tuple(level.policy for level in mission.levels),
                decision=decision,
                learner_ms=took_ms,
                statistics=mission,
            )


def _read_share(workload: WorkloadSpec) -> float:
    """Returns the share of lookups in a workload of lookups and puts of uniform keys."""
    (session,) = workload.sessions
    mix = workload.mix_of(session)
    if workload.key_chooser.kind != "uniform" or mix.scan:
        raise UserError(f"costs: a modelled store has no {workload.name}; leave --costs out")
    return mix.get + mix.get_absent
