"""A benchmark without RocksDB: figures are a function of the OPTIONS file and the seed; fails when asked to.

pretended_benchmark.py OPTIONS_FILE DATA_DIRECTORY SECONDS SEED [FAULT[@OPTION=VALUE]]...
"""

import json
import os
import random
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path


def options_in(text: str) -> dict[str, str]:
    return dict(re.findall(r"^  (\w+)=(.*)$", text, re.MULTILINE))


def figures(options: dict[str, str], seed: int) -> dict[str, float]:
    """Large write buffers are fast; the bare defaults have 64 MiB."""
    buffer_bytes = int(options.get("write_buffer_size", 64 << 20))
    noise = random.Random(seed).uniform(0.99, 1.01)
    throughput = noise * (10_000 + buffer_bytes / (1 << 14))
    return {"throughput_ops_s": throughput, "read_latency_us_p99": 1e6 / throughput, "errors": 0}


def eat_memory() -> None:
    held = []
    while True:
        held.append(bytearray(b"x") * (32 << 20))
        time.sleep(0.02)


def fill_disk(directory: Path) -> None:
    with (directory / "000001.sst").open("wb") as file:
        while True:
            file.write(b"x" * (1 << 20))
            file.flush()
            time.sleep(0.02)


def leave_background() -> None:
    left = subprocess.Popen(["sleep", "3600"], start_new_session=True)
    print(f"left {left.pid}", flush=True)


def main() -> None:
    options_file, data_directory, seconds, seed = sys.argv[1:5]
    options = options_in(Path(options_file).read_text())
    (Path(data_directory) / "CURRENT").write_text("made up\n")
    faults: dict[str, Callable[[], object]] = {
        "abort": os.abort,
        "exit": lambda: sys.exit("Invalid argument: no such option"),
        "hang": lambda: time.sleep(3600),
        "silent": lambda: sys.exit(0),
        "nonsense": lambda: (print("all went well: 12,345 ops/s"), sys.exit(0)),
        "memory": eat_memory,
        "disk": lambda: fill_disk(Path(data_directory)),
        "background": leave_background,
        "killed": lambda: os.kill(os.getpid(), 9),
    }
    for argument in sys.argv[5:]:
        fault, _, condition = argument.partition("@")
        name, _, value = condition.partition("=")
        if not condition or options.get(name) == value:
            faults[fault]()
    time.sleep(float(seconds) / 10)
    print("loading done")
    print(json.dumps(figures(options, int(seed))))
    print("bye")


if __name__ == "__main__":
    main()
