"""A substitute for rocktune-worker without RocksDB, which implements the whole protocol.

The figures of its synthetic store are a smooth function of options and seed with one best configuration, so
that tuners and studies have something to find. A window takes no time. Faults can be injected:

    fake_worker.py [--fault COMMAND=KIND[@SECTION.OPTION=VALUE]] ...

where KIND is one of `FAULTS`. The condition restricts the fault to runs with that value of the scaled option.
The file imports only the standard library, so that it starts quickly: a study starts hundreds of workers.
"""

import ctypes
import json
import math
import os
import random
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

ROCKSDB_VERSION = "7.8.3"
DEFAULTS = {
    "db": {"max_background_jobs": "2", "max_open_files": "-1"},
    "cf": {
        "write_buffer_size": "67108864",
        "max_write_buffer_number": "2",
        "level0_file_num_compaction_trigger": "4",
        "max_bytes_for_level_base": "268435456",
        "max_bytes_for_level_multiplier": "10.000000",
        "target_file_size_base": "67108864",
        "num_levels": "7",
        "compression": "kSnappyCompression",
    },
    "table": {"block_size": "4096", "block_cache": "8388608", "filter_policy": "nullptr"},
}
FAULTS = (
    "segfault", "assertion", "sanitizer", "bad_alloc", "hang", "garbage", "cut", "wrong_event", "exit",
    "invalid", "out_of_memory", "out_of_disk",
)  # fmt: skip

Options = dict[str, dict[str, str]]


class CommandError(Exception):
    """Makes the worker answer a command with an error. Its arguments are the status and the message."""


def fake_worker_command(*faults: str) -> tuple[str, ...]:
    """Returns the command that starts this worker, for `EmbeddedEngine(worker=...)`.

    Args:
        faults: values of the option `--fault`.
    """
    options = [word for fault in faults for word in ("--fault", fault)]
    return (sys.executable, "-I", "-S", str(Path(__file__).resolve()), *options)


class FakeStore:
    """A synthetic store under load. All its figures are functions of options, seed and age."""

    def __init__(self, command: dict[str, Any], options: Options) -> None:
        """Opens the store in the directory that `command` names, and leaves files there."""
        self.options = options
        self.workload = command["workload"]
        self.age_s = 0.0
        self._interval_s = float(command["series_interval_s"])
        self._random = random.Random(f"{command['seed']}|{json.dumps(self.workload, sort_keys=True)}")
        self._noise = self._random.uniform(-0.01, 0.01)
        self._directory = Path(command["directory"])
        for name in ("CURRENT", "000001.sst"):
            if not (self._directory / name).exists():
                (self._directory / name).write_text("made up\n")
        if self.workload["preload"]["keys"] and not (self._directory / "000002.sst").exists():
            self._loaded_keys = 0
        else:
            self._loaded_keys = self.workload["preload"]["keys"]

    def load(self) -> int:
        """Preloads the store and returns the number of keys."""
        self._loaded_keys = int(self.workload["preload"]["keys"])
        (self._directory / "000002.sst").write_text("x" * min(self._loaded_keys, 4096))
        return self._loaded_keys

    def number(self, section: str, name: str) -> float:
        """Returns an option as a number."""
        return float(self.options[section][name])

    def throughput_ops_s(self) -> float:
        """Returns operations per second, at most 60,000 without noise.

        The function is a hill in the logarithms of ratios of options, times up to 1% of noise.
        """
        buffers = self.number("cf", "write_buffer_size") * self.number("cf", "max_write_buffer_number")
        cache = max(1.0, self.number("table", "block_cache"))
        distances = (
            (0.10, math.log(buffers / cache)),
            (0.10, math.log(self.number("cf", "max_bytes_for_level_base") / (4 * buffers))),
            (0.15, math.log(self.number("cf", "max_bytes_for_level_multiplier") / 8)),
            (0.10, math.log(self.number("cf", "level0_file_num_compaction_trigger") / 6)),
            (0.20, math.log(self.number("db", "max_background_jobs") / 4)),
        )
        hill = 60_000 * math.exp(-sum(weight * distance**2 for weight, distance in distances))
        arrival = self.workload["sessions"][0]["arrival"]
        wanted = float("inf") if arrival["kind"] == "closed" else float(arrival["operations_s"])
        return min(hill, wanted) * (1 + self._noise)

    def advance(self, until_s: float) -> dict[str, Any]:
        """Returns the window from the present age to `until_s`."""
        from_s, self.age_s = self.age_s, until_s
        rate = self.throughput_ops_s()
        mix = self.workload["sessions"][0]["mix"]
        counts = {
            # A difference of cumulative counts, so that windows add up exactly.
            kind: math.floor(rate * share * until_s) - math.floor(rate * share * from_s)
            for kind, share in mix.items()
            if share > 0
        }
        # Sixteen threads in a closed loop: each waits 16 / rate seconds for its operation.
        return self._measurement(from_s, until_s, counts, 16 / rate)

    def _measurement(
        self, from_s: float, until_s: float, counts: dict[str, int], latency_s: float
    ) -> dict[str, Any]:
        """Returns a window in the worker's form."""
        size = self.workload["value"]
        entry_bytes = self.workload["key_bytes"] + (size["low"] + max(size["low"], size["high"])) // 2
        reads = sum(counts.get(kind, 0) for kind in ("get", "scan", "read_modify_write"))
        writes = sum(counts.get(kind, 0) for kind in ("put", "insert", "read_modify_write"))
        written = writes * entry_bytes
        stored = (self._loaded_keys + round(writes / max(1e-9, until_s - from_s) * until_s)) * entry_bytes
        intervals = max(1, math.ceil((until_s - from_s) / self._interval_s - 1e-9))
        device = {
            "wal": written, "flush": written, "compaction_read": 8 * written, "compaction_write": 8 * written,
            "user_read": reads * 4096, "other": 4096,
        }  # fmt: skip
        series = {
            "operations": sum(counts.values()) / intervals, "stalled_s": 0.0,
            "device_bytes_read": (device["compaction_read"] + device["user_read"]) / intervals,
            "device_bytes_written": 10 * written / intervals, "stored_bytes": stored * 11 // 10,
            "live_bytes": stored, "memtables_bytes": int(self.number("cf", "write_buffer_size")),
        }  # fmt: skip
        return {
            "event": "measurement",
            "from_s": from_s,
            "until_s": until_s,
            "operations": {kind: _latencies(kind, count, latency_s) for kind, count in counts.items()},
            "user_bytes_read": reads * entry_bytes,
            "user_bytes_written": written,
            "series": {name: [value] * intervals for name, value in series.items()}
            | {"interval_s": self._interval_s},
            "stalled_s": 0.0,
            "write_stopped_s": 0.0,
            "max_write_stop_s": 0.0,
            "device_bytes": device,
            "device_operations": {cause: count // 4096 for cause, count in device.items()},
            "level_bytes": [stored // 11, stored - stored // 11],
            "level_files": [1, 10],
            "db_bytes": stored * 11 // 10,
            "logical_bytes": stored,
            "live_keys": stored // entry_bytes,
            "memory_bytes": {
                "memtables": int(self.number("cf", "write_buffer_size")),
                "block_cache": int(self.number("table", "block_cache")),
                "table_readers": 4096,
                "block_cache_pinned": 0,
                "resident": self.resident_bytes(),
            },
            "cpu_s": (until_s - from_s) * 1.5,
            "tickers": {"rocksdb.block.cache.hit": reads},
            "histograms": {},
        }

    def resident_bytes(self) -> int:
        """Returns the bytes of one memtable and the block cache."""
        return int(self.number("cf", "write_buffer_size") + self.number("table", "block_cache"))


def _latencies(kind: str, count: int, latency_s: float) -> dict[str, Any]:
    """Returns the counts and latencies of a kind: one operation in a hundred takes ten times `latency_s`."""
    usual_ns, slow = round(latency_s * 1e9), count // 100
    buckets = [[usual_ns, count - slow], [10 * usual_ns, slow]]
    figures = {
        "count": count,
        "latency_ns": [bucket for bucket in buckets if bucket[1]],
        "latency_sum_ns": usual_ns * (count + 9 * slow),
    }
    return figures | ({"found": count} if kind in ("get", "read_modify_write") else {})


class FakeWorker:
    """Answers the protocol's commands."""

    def __init__(self, faults: list[str]) -> None:
        """Creates a worker; `faults` are the values of `--fault`."""
        self._faults = [[*fault.partition("@")[0].split("="), fault.partition("@")[2]] for fault in faults]
        self._store: FakeStore | None = None

    def answer(self, command: dict[str, Any]) -> dict[str, Any]:
        """Returns the reply to a command, or fails if a fault applies.

        Raises:
            CommandError: the reply is an error.
        """
        name = command["command"]
        if name == "examine_options":
            self._inject_fault(name, _effective({}))
            return _examined(command["options"])
        if name == "measure_device":
            self._inject_fault(name, DEFAULTS)
            return _measured_device(command)
        options = _effective(command["options"]) if "options" in command else None
        self._inject_fault(name, options or (self._store.options if self._store else DEFAULTS))
        if name == "check_options":
            return {"event": "options", "options": options}
        if name == "open" and options is not None:
            self._store = FakeStore(command, options)
            return {"event": "opened", "seconds": 0.001, "options": options}
        if name == "close":
            return {"event": "closed"}
        if self._store is None:
            raise CommandError("invalid", f"'{name}' before 'open'")
        if name == "load":
            _say({"event": "progress", "phase": "load", "done": 0, "total": 1})
            return {"event": "loaded", "seconds": 0.001, "keys": self._store.load()}
        if name == "park":
            return {"event": "parked", "resident_bytes": self._store.resident_bytes()}
        until_s = float(command["until_s"])
        _say({"event": "progress", "phase": "advance", "done": self._store.age_s, "total": until_s})
        return self._store.advance(until_s)

    def _inject_fault(self, command: str, options: Options) -> None:
        """Fails if a fault applies to a command."""
        for name, kind, condition in self._faults:
            option, _, value = condition.partition("=")
            section, _, option_name = option.partition(".")
            if name == command and (not condition or options[section].get(option_name) == value):
                _fail(kind)


def _effective(options: Options) -> Options:
    """Returns all options with the given ones set; refuses numbers that RocksDB would misread."""
    for section, texts in options.items():
        for name, text in texts.items():
            if text.startswith("0x") or (text.startswith("-") and text != "-1"):
                raise CommandError("invalid", f"{section}.{name}: '{text}' would be read as something else")
    return {section: {**DEFAULTS[section], **options.get(section, {})} for section in DEFAULTS}


def _examined(options: Options) -> dict[str, Any]:
    """Refuses names that this RocksDB does not have and numbers that it cannot hold; adjusts nothing."""
    reply: dict[str, Any] = {"event": "examined", "refused": {}, "misread": {}, "ignored": {}}
    accepted: Options = {}
    for section, texts in options.items():
        for name, text in texts.items():
            if name not in DEFAULTS[section]:
                reply["refused"].setdefault(section, {})[name] = f"Could not find option: {name}"
            elif text.startswith(("0x", "-")) and text != "-1":
                reply["misread"].setdefault(section, {})[name] = "0"
            else:
                accepted.setdefault(section, {})[name] = text
    parsed = _effective(accepted)
    if "block_cache" not in accepted.get("table", {}):
        parsed["table"] = {name: text for name, text in parsed["table"].items() if name != "block_cache"}
    return reply | {"parsed": parsed, "opened": parsed, "open_error": ""}


def _fail(kind: str) -> NoReturn:
    """Fails in one of the ways that `FAULTS` lists: by an error, a malformed answer, or the process' end."""
    ends: dict[str, Callable[[], object]] = {
        "segfault": lambda: os.kill(os.getpid(), signal.SIGSEGV),
        "assertion": lambda: _abort("db.cc:7: Write(): Assertion `n > 0' failed.\n\t#3 0x7f (worker)"),
        "sanitizer": lambda: _abort(
            "==7==ERROR: AddressSanitizer: heap-use-after-free\n"
            "SUMMARY: AddressSanitizer: heap-use-after-free db.cc:7 in Write\nShadow bytes:\n==7==ABORTING"
        ),
        "bad_alloc": lambda: _abort("terminate called after throwing\n  what():  std::bad_alloc"),
        "hang": lambda: time.sleep(3600),
        "garbage": lambda: sys.stdout.write("%$ garbage\n"),
        "cut": lambda: sys.stdout.write('{"event":"measu'),
        "wrong_event": lambda: _say({"event": "loaded or parked"}),
        "exit": lambda: sys.stderr.write("Corruption: made up\n"),
    }
    if kind not in ends:
        raise CommandError(kind, f"made up: {kind}")
    ends[kind]()
    sys.stdout.flush()
    sys.exit(3)


def _abort(message: str) -> None:
    """Prints a message like a failing program, and aborts."""
    print(message, file=sys.stderr, flush=True)
    os.abort()


def _say(event: dict[str, Any]) -> None:
    """Prints an event."""
    print(json.dumps(event, separators=(",", ":")), flush=True)


def _measured_device(command: dict[str, Any]) -> dict[str, Any]:
    """Returns the figures of a made-up disk, and leaves a file as a killed worker does."""
    (Path(command["directory"]) / "filled.sst").write_text("made up\n")
    for phase, done in (("fill", 0.0), ("iops", command["seconds"] / 2)):
        _say({"event": "progress", "phase": phase, "done": done, "total": command["seconds"]})
    figures = {
        "bandwidth_bytes_s": 400 << 20,
        "iops": 60_000,
        "read_latency_us": 110,
        "write_latency_us": 40,
        "sync_latency_us": 2_000,
    }
    return {"event": "device_measured", "device": figures, "written_bytes": command["bytes"]}


def main() -> int:
    """Answers commands until end-of-file or the command `close`; returns the exit status."""
    # PR_SET_PDEATHSIG: like the real worker, end with the driver.
    parent_died_signal = 1
    ctypes.CDLL(None).prctl(parent_died_signal, signal.SIGKILL)
    worker = FakeWorker(sys.argv[2::2])
    _say(
        {
            "event": "hello",
            "protocol": 7,
            "rocksdb_version": ROCKSDB_VERSION,
            "assertions": False,
            "compressions": ["kNoCompression"],
        }
    )
    for line in sys.stdin:
        try:
            command = json.loads(line)
            reply = worker.answer(command)
        except CommandError as failure:
            _say({"event": "error", "status": failure.args[0], "message": failure.args[1]})
            return 1
        _say(reply)
        if command["command"] == "close":
            return 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
