"""Our DDPG against stable-baselines3's, with equal settings, on a small control problem.

stable-baselines3 is in its own environment, build/sb3, created with pip if missing, or in the one of
`--reference-python`.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common.claims import ROOT, Claim, Settings, decided, exactly, main, mean_interval, reported
from benchmarks.common.tables import write_csv
from benchmarks.ruskey.pendulum import ACTIONS, EPISODE_STEPS, STATES, Pendulum
from rocktune.errors import UserError

REFERENCE = "stable-baselines3==2.7.0"
SOURCE = "the agent against stable-baselines3"
SETTINGS = {
    "layers": 3,
    "neurons": 128,
    "rate": 1e-3,
    "discount": 0.98,
    "target_rate": 0.005,
    "batch": 64,
    "capacity": 50_000,
    "noise": 0.1,
    "warm_up": 500,
}
EPISODES = 20
"""After learning, without noise."""
CLOSE = 50.0
"""Tolerance of the returns, which range from about -1,500 (hanging) to -150 (up at once)."""


def ddpg_reference(settings: Settings) -> list[Claim]:
    """Trains both for `--steps` with `--seeds` seeds each."""
    steps = 600 if settings.quick else int(settings.extra["steps"])
    seeds = 1 if settings.quick else int(settings.extra["seeds"])
    reference = None if settings.quick else _reference_python(str(settings.extra["reference_python"]))
    returns: dict[str, list[float]] = {"ours": [], "stable-baselines3": []}
    for seed in range(settings.seed, settings.seed + seeds):
        returns["ours"].append(float(np.mean(_ours(steps, seed))))
        if reference is not None:
            returns["stable-baselines3"].append(float(np.mean(_theirs(reference, steps, seed))))
        last = [f"{name} {each[-1]:.0f}" for name, each in returns.items() if each]
        settings.say(f"seed {seed}: {', '.join(last)}")
    if settings.out is not None:
        write_csv(
            settings.out / "returns.csv",
            [
                {"agent": name, "seed": settings.seed + number, "mean_return": value}
                for name, each in returns.items()
                for number, value in enumerate(each)
            ],
        )
    own = mean_interval(returns["ours"]) if seeds > 1 else exactly(returns["ours"][0])
    unit = f"mean return of {EPISODES} episodes after {steps:,} steps"
    ours = reported("pendulum_ours", SOURCE, unit, own, engine="no store", device="none")
    if reference is None:
        return [ours]
    theirs = mean_interval(returns["stable-baselines3"])
    pairs = zip(returns["ours"], returns["stable-baselines3"], strict=True)
    behind = mean_interval([mine - other for mine, other in pairs])
    return [
        ours,
        decided(
            reported("pendulum_ours_less_theirs", SOURCE, unit, behind, engine="no store", device="none"),
            low=-CLOSE,
        ),
        reported("pendulum_stable_baselines3", SOURCE, unit, theirs, engine=REFERENCE, device="none"),
    ]


def _ours(steps: int, seed: int) -> list[float]:
    # Here, because smoke runs look at this file without PyTorch.
    import torch

    from rocktune.online.control.ddpg import DdpgAgent, DdpgSettings

    torch.set_num_threads(1)
    agent = DdpgAgent(
        STATES,
        ACTIONS,
        DdpgSettings(
            layers=int(SETTINGS["layers"]),
            neurons=int(SETTINGS["neurons"]),
            actor_rate=SETTINGS["rate"],
            critic_rate=SETTINGS["rate"],
            discount=SETTINGS["discount"],
            target_rate=SETTINGS["target_rate"],
            batch=int(SETTINGS["batch"]),
            capacity=int(SETTINGS["capacity"]),
            saturation=0.0,
        ),
        seed,
    )
    rng, world = np.random.default_rng(seed), Pendulum(seed)
    seen = world.reset()
    for step in range(steps):
        warm = step >= SETTINGS["warm_up"]
        action = agent.act(seen, SETTINGS["noise"]) if warm else rng.uniform(-1, 1, 1).astype(np.float32)
        then, reward = world.step(float(action[0]))
        agent.replay.add(seen, action, reward, then, True)
        seen = world.reset() if (step + 1) % EPISODE_STEPS == 0 else then
        if warm:
            agent.learn()
    tested, returns = Pendulum(seed + 1000), []
    for _ in range(EPISODES):
        seen, total = tested.reset(), 0.0
        for _ in range(EPISODE_STEPS):
            seen, reward = tested.step(float(agent.act(seen)[0]))
            total += reward
        returns.append(total)
    return returns


def _theirs(python: Path, steps: int, seed: int) -> list[float]:
    asked: dict[str, Any] = {
        "path": str(Path(__file__).parent), "steps": steps, "seed": seed, "episodes": EPISODES,
        "settings": SETTINGS,
    }  # fmt: skip
    done = subprocess.run(
        [python, Path(__file__).parent / "sb3_ddpg.py"],
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise UserError(f"{python}: {done.stderr.strip()[-300:]}")
    found: list[float] = json.loads(done.stdout)
    return found


def _reference_python(given: str) -> Path:
    if given:
        return Path(given)
    home = ROOT / "build" / "sb3"
    if not (home / "bin" / "python").exists():
        subprocess.run([sys.executable, "-m", "venv", home], check=True)
        subprocess.run([home / "bin" / "python", "-m", "pip", "install", "-q", REFERENCE], check=True)
    return home / "bin" / "python"


if __name__ == "__main__":
    main(
        "ruskey.ddpg_reference",
        ddpg_reference,
        scale=1,
        quick_scale=1,
        extra={"steps": 8000, "seeds": 5, "reference_python": ""},
    )
