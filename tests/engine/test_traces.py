"""Reads traces with the worker. Mutated ones must end in a message, whatever they hold."""

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from rocktune.engine import import_trace, sample_trace
from rocktune.engine.traces import MAX_SCAN_LENGTH
from rocktune.engine.worker import WorkerProcess, find_worker
from rocktune.errors import UserError
from rocktune.units import MIB

HEADER = "time_us,operation,key,value_bytes\n"


def write_csv(path: Path, operations: int, seed: int = 1) -> Path:
    numbers = random.Random(seed)
    lines = (
        f"{index * 10},{'put' if numbers.random() < 0.5 else 'get'},k{numbers.randrange(500):05d},100\n"
        for index in range(operations)
    )
    path.write_text(HEADER + "".join(lines))
    return path


def write_query_trace(path: Path, operations: int) -> Path:
    """Writes a trace in RocksDB's own format; C++ tests compare our reader with RocksDB's writer."""
    numbers = random.Random(2)

    def record(time_us: int, kind: int, payload: bytes) -> bytes:
        return time_us.to_bytes(8, "little") + bytes([kind]) + len(payload).to_bytes(4, "little") + payload

    def text(data: bytes) -> bytes:
        return bytes([len(data)]) + data

    header = b"feedcafedeadbeef\tTrace Version: 0.2\tRocksDB Version: 7.8\tFormat: Timestamp OpType Payload\n"
    parts = [record(5, 1, header)]
    for index in range(operations):
        key = text(b"key%05d" % numbers.randrange(500))
        if numbers.random() < 0.5:
            batch = bytes(8) + (1).to_bytes(4, "little") + b"\x01" + key + text(b"v" * 50)
            payload = (1 << 1).to_bytes(8, "little") + text(batch)
            parts.append(record(10 + index, 3, payload))
        else:
            payload = (1 << 2 | 1 << 3).to_bytes(8, "little") + bytes(4) + key
            parts.append(record(10 + index, 4, payload))
    path.write_bytes(b"".join(parts) + record(10 + operations, 2, b""))
    return path


def test_reads_a_trace_and_samples_it(tmp_path: Path) -> None:
    seen = []
    target = tmp_path / "operations"
    whole = import_trace(
        write_csv(tmp_path / "trace.csv", 50_000), target, progress=lambda *each: seen.append(each)
    )
    assert whole.operations == 50_000
    assert whole.families[0].used_keys == 500
    assert whole == sample_trace(target, 1)
    sampled = sample_trace(target, 4)
    assert sampled.sampling is not None
    assert sampled.sampling.operations_ratio == pytest.approx(1, abs=0.1)
    assert sample_trace(target, 4) == sampled, "made once"


def test_reads_a_query_trace(tmp_path: Path) -> None:
    found = import_trace(write_query_trace(tmp_path / "trace", 400), tmp_path / "operations")
    assert found.operations == 400
    assert found.families[0].operations["get"] + found.families[0].operations["put"] == 400
    assert found.notes == {}


def test_says_what_is_wrong(tmp_path: Path) -> None:
    missing = tmp_path / "missing"
    with pytest.raises(UserError, match=f"^{missing}: cannot be read: No such file or directory$"):
        import_trace(missing, tmp_path / "operations")
    with pytest.raises(UserError, match="is not a file"):
        import_trace(tmp_path, tmp_path / "operations")
    trace = write_csv(tmp_path / "trace.csv", 10)
    with pytest.raises(UserError, match=r"cannot be written|sorting the trace's keys failed"):
        import_trace(trace, tmp_path / "no" / "operations")
    with pytest.raises(UserError, match=r"scan-length: 0 must be a number of entries from 1 to 100,000"):
        import_trace(trace, tmp_path / "operations", 0)
    with pytest.raises(UserError, match="scan-length"):
        import_trace(trace, tmp_path / "operations", MAX_SCAN_LENGTH + 1)
    with pytest.raises(UserError, match="is not a complete file of operations"):
        sample_trace(trace, 2)


Mutation = Callable[[bytes, random.Random], bytes]


def truncated(content: bytes, numbers: random.Random) -> bytes:
    return content[: numbers.randrange(len(content))]


def reordered(content: bytes, numbers: random.Random) -> bytes:
    size = len(content) // 8
    blocks = [content[at : at + size] for at in range(0, len(content), size)]
    numbers.shuffle(blocks)
    return b"".join(blocks)


def flipped(content: bytes, numbers: random.Random) -> bytes:
    changed = bytearray(content)
    for _ in range(numbers.choice([1, 3, 30])):
        changed[numbers.randrange(len(changed))] = numbers.randrange(256)
    return bytes(changed)


def garbage(content: bytes, numbers: random.Random) -> bytes:
    at = numbers.randrange(len(content))
    return content[:at] + numbers.randbytes(2000) + content[at + numbers.randrange(100) :]


MUTATIONS: tuple[Mutation, ...] = (truncated, reordered, flipped, garbage)


def check_mutated(folder: Path, rounds: int) -> None:
    """Imports mutated traces. Each is read, at least in part, or refused with one line."""
    numbers = random.Random(7)
    sources = (write_csv(folder / "trace.csv", 300), write_query_trace(folder / "trace", 300))
    contents = [path.read_bytes() for path in sources]
    mutated, target = folder / "mutated", folder / "operations"
    refused = 0
    for number in range(rounds):
        mutation = MUTATIONS[number % len(MUTATIONS)]
        mutated.write_bytes(mutation(contents[number // len(MUTATIONS) % 2], numbers))
        try:
            assert import_trace(mutated, target).operations > 0
        except UserError as error:
            refused += 1
            said = str(error)
            assert said.startswith(str(mutated)), said
            assert "\n" not in said
            assert "crash" not in said, said
            assert "signal" not in said, said
    assert refused < rounds / 2, "most mutated traces can be read in part"
    assert {path.name for path in folder.iterdir()} <= {"trace.csv", "trace", "mutated", "operations"}


def test_mutated_traces_are_read_in_part_or_refused(tmp_path: Path) -> None:
    check_mutated(tmp_path, 16)


@pytest.mark.slow
def test_many_mutated_traces_are_read_in_part_or_refused(tmp_path: Path) -> None:
    check_mutated(tmp_path, 500)


def peak_bytes(source: Path, target: Path) -> int:
    """Imports a trace, or is refused, and returns the worker's maximum resident bytes."""
    worker = WorkerProcess(find_worker())
    status = Path(f"/proc/{worker._process.pid}/status")
    fields = {
        "source": str(source),
        "target": str(target),
        "unknown_scan_length": 100,
        "preload_from": "",
    }
    worker.request("import_trace", 600, fields)
    (peak,) = (line.split()[1] for line in status.read_text().splitlines() if line.startswith("VmHWM"))
    worker.kill()
    return int(peak) * 1024


def test_a_sparse_file_behind_a_trace_is_not_read(tmp_path: Path) -> None:
    sparse = write_query_trace(tmp_path / "sparse", 100)
    with sparse.open("r+b") as file:
        file.seek(-13, 2)  # over the end record
        file.truncate()
        file.truncate(5 << 30)
    found = import_trace(sparse, tmp_path / "operations")
    assert found.operations == 100
    assert found.notes["bytes behind the last record left out"] > 4 << 30
    text = write_csv(tmp_path / "sparse.csv", 100)
    with text.open("r+b") as file:
        file.truncate(5 << 30)
    assert import_trace(text, tmp_path / "operations").operations == 100
    for trace in (sparse, text):
        assert peak_bytes(trace, tmp_path / "operations") < 200 * MIB


@pytest.mark.slow
def test_memory_is_bounded(tmp_path: Path) -> None:
    trace = tmp_path / "trace.csv"
    numbers = random.Random(3)
    with trace.open("w") as file:
        file.write(HEADER)
        for index in range(2_000_000):
            file.write(f"{index},put,{numbers.randbytes(20).hex()},100\n")
    assert peak_bytes(trace, tmp_path / "operations") < 200 * MIB
