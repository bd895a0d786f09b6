"""A process that is killed while it ages a store: the next one goes on from what was recorded."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from rocktune.device import DeviceSpec
from rocktune.engine import EmbeddedEngine
from rocktune.engine.embedded import ageing
from rocktune.engine.embedded.ageing import Ageing
from rocktune.engine.steadiness import Steadiness
from rocktune.space import load_space
from rocktune.trial import Experiment
from rocktune.workload import load_workload

SCALE = 128
STEPS = 9
"""Steps until a store is given up; two windows of at least five steps, which could be steady, are more."""
LIMIT_S = STEPS * 20.0

PROGRAM = """
import sys
import time
from pathlib import Path
from rocktune.engine import EmbeddedEngine
from rocktune.engine.embedded import ageing
from tests.integration.test_killed_ageing import LIMIT_S, experiment

def wait_for_the_kill(phase, done, total):
    if phase == "age" and done > 2.5 * total / 9:
        time.sleep(600)

ageing.LIMIT_FULL_SIZE_S = LIMIT_S
conditions = experiment()
engine = EmbeddedEngine(Path(sys.argv[1]), 0, 0, tuple(sys.argv[2:]))
engine.open(conditions, conditions.space.default(), 1, wait_for_the_kill)
"""


def experiment() -> Experiment:
    device = DeviceSpec(name="slow", bandwidth_bytes_s=50_000_000)
    workload = load_workload("ycsb-a").scaled(16)  # small, so that loading takes a moment
    return replace(Experiment(workload, device, SCALE, load_space("dremel", None, 1e6)), aged=True)


def recorded(data: Path) -> list[str]:
    """Returns the recorded steps of the only store that is being aged."""
    return [
        line
        for path in (data / "bases").glob("*.partial/rocktune-ageing-steps.jsonl")
        for line in path.read_text().splitlines(keepends=True)
        if line.endswith("\n")
    ]


@pytest.mark.timeout(300)
def test_a_killed_process_loses_one_step(
    tmp_path: Path, real_worker: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    data = tmp_path / "data"
    root = Path(__file__).parent.parent.parent
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(data), *real_worker],
        cwd=root,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(root), *sys.path])},
    )
    while len(recorded(data)) < 3:
        assert process.poll() is None, "it ended before it had aged anything"
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    before = recorded(data)
    assert len(before) == 3
    monkeypatch.setattr(ageing, "LIMIT_FULL_SIZE_S", LIMIT_S)
    taken: list[Steadiness] = []
    plain_record = ageing._record

    def record(steadiness: Steadiness, age_s: float) -> Ageing:
        taken.append(steadiness)
        return plain_record(steadiness, age_s)

    # The file of steps is removed once the store is aged.
    monkeypatch.setattr(ageing, "_record", record)
    conditions = experiment()
    with closing(EmbeddedEngine(data, 0, 0, real_worker)) as engine:
        with closing(engine.open(conditions, conditions.space.default(), 1)) as run:
            found = run.advance(0.1).raw["ageing"]
        assert not list((data / "bases").glob("*.partial"))
    assert found["load_s"] == pytest.approx(STEPS * 20 / SCALE)
    (steadiness,) = taken
    steps = [step for window in steadiness.windows for step in window.steps] + steadiness._steps
    assert [step.until_s for step in steps[: len(before)]] == [json.loads(line)["until_s"] for line in before]
    assert len(steps) == STEPS
