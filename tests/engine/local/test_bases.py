import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rocktune.device import DeviceSpec
from rocktune.engine.base import RunFailed
from rocktune.engine.local.bases import BaseCache, aged_base_key, base_key, clean_data
from rocktune.engine.local.data_directory import DataDirectory, directory_bytes
from rocktune.trial import Status
from rocktune.workload import WorkloadSpec

OPTIONS: dict[str, dict[str, str]] = {"db": {}, "cf": {"num_levels": "5"}, "table": {}}


@pytest.fixture
def data(tmp_path: Path) -> Iterator[DataDirectory]:
    data = DataDirectory(tmp_path / "data")
    yield data
    data.close()


def make(directory: Path) -> None:
    for name in ("000001.sst", "000002.blob", "CURRENT", "MANIFEST-1", "LOG", "LOG.old.7", "LOCK"):
        (directory / name).write_text(name * 10)


def fail(directory: Path) -> None:
    raise AssertionError("the base was there")


def test_a_base_is_made_once_and_cloned(data: DataDirectory) -> None:
    bases = BaseCache(data, 1 << 30)
    first, second = data.new_directory(), data.new_directory()
    bases.clone("k", make, first)
    bases.clone("k", fail, second)
    for clone in (first, second):
        assert sorted(path.name for path in clone.iterdir()) == [
            "000001.sst",
            "000002.blob",
            "CURRENT",
            "MANIFEST-1",
        ]
        for name in ("000001.sst", "000002.blob"):
            assert (clone / name).samefile(data.bases / "k" / name)
    (first / "CURRENT").write_text("changed")
    (first / "000001.sst").unlink()
    assert (data.bases / "k" / "CURRENT").read_text() == (second / "CURRENT").read_text() == "CURRENT" * 10
    assert (second / "000001.sst").read_text() == "000001.sst" * 10


def test_without_hard_links_files_are_copied(data: DataDirectory, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: Path, target: Path) -> None:
        raise PermissionError

    monkeypatch.setattr(Path, "hardlink_to", refuse)
    clone = data.new_directory()
    BaseCache(data, 1 << 30).clone("k", make, clone)
    assert (clone / "000001.sst").read_text() == "000001.sst" * 10
    assert not (clone / "000001.sst").samefile(data.bases / "k" / "000001.sst")


def test_a_base_whose_making_fails_is_not_there(data: DataDirectory) -> None:
    bases = BaseCache(data, 1 << 30)

    def half(directory: Path) -> None:
        make(directory)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        bases.clone("k", half, data.new_directory())
    assert [path for path in data.bases.iterdir() if path.is_dir()] == []
    bases.clone("k", make, data.new_directory())


def test_a_kill_leaves_no_half_base(tmp_path: Path) -> None:
    text = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "from rocktune.engine.local.bases import BaseCache\n"
        "from rocktune.engine.local.data_directory import DataDirectory\n"
        "def half(directory):\n"
        "    (directory / 'CURRENT').write_text('x')\n"
        "    os.kill(os.getpid(), 9)\n"
        "data = DataDirectory(Path(sys.argv[1]))\n"
        "BaseCache(data, 1 << 30).clone('k', half, data.new_directory())\n"
    )
    assert subprocess.run([sys.executable, "-c", text, str(tmp_path / "data")], check=False).returncode == -9
    data = DataDirectory(tmp_path / "data")
    assert not (data.bases / "k").exists()
    assert data.tidied_bytes == 1
    BaseCache(data, 1 << 30).clone("k", make, data.new_directory())
    data.close()


def fail_empty(directory: Path) -> None:
    raise AssertionError("what the base begins as was there")


def test_a_base_that_takes_long_goes_on_where_it_was(data: DataDirectory) -> None:
    bases = BaseCache(data, 1 << 30)

    def cut(directory: Path) -> None:
        (directory / "step").write_text("1")
        raise KeyboardInterrupt

    def finish(directory: Path) -> None:
        assert (directory / "step").read_text() == "1"
        (directory / "step").write_text("2")

    with pytest.raises(KeyboardInterrupt):
        bases.clone_resumable("k", make, cut, data.new_directory())
    assert not (data.bases / "k").exists()
    clone = data.new_directory()
    bases.clone_resumable("k", fail_empty, finish, clone)
    assert (clone / "step").read_text() == "2"
    assert [path.name for path in data.bases.iterdir() if path.is_dir()] == ["k"]
    bases.clone_resumable("k", fail_empty, fail, data.new_directory())


def test_a_store_that_failed_is_not_continued(data: DataDirectory) -> None:
    bases = BaseCache(data, 1 << 30)

    def crash(directory: Path) -> None:
        raise RunFailed(Status.CRASHED, "gone")

    with pytest.raises(RunFailed, match="gone"):
        bases.clone_resumable("k", make, crash, data.new_directory())
    assert [path for path in data.bases.iterdir() if path.is_dir()] == []


def test_what_was_begun_can_be_cleaned(data: DataDirectory) -> None:
    bases = BaseCache(data, 1 << 30)

    def cut(directory: Path) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        bases.clone_resumable("k", make, cut, data.new_directory())
    assert bases.evict() > 0
    assert [path for path in data.bases.iterdir() if path.is_dir()] == []


def test_two_processes_make_it_once(tmp_path: Path) -> None:
    """Both are let go at once; the slow making is counted."""
    text = (
        "import sys, time\n"
        "from pathlib import Path\n"
        "from rocktune.engine.local.bases import BaseCache\n"
        "from rocktune.engine.local.data_directory import DataDirectory\n"
        "def make(directory):\n"
        "    print('made', flush=True)\n"
        "    time.sleep(0.3)\n"
        "    (directory / 'CURRENT').write_text('x')\n"
        "data = DataDirectory(Path(sys.argv[1]))\n"
        "clone = data.new_directory()\n"
        "sys.stdin.readline()\n"
        "BaseCache(data, 1 << 30).clone('k', make, clone)\n"
        "print((clone / 'CURRENT').read_text())\n"
        "data.close()\n"
    )
    command = [sys.executable, "-c", text, str(tmp_path / "data")]
    pipe = subprocess.PIPE
    drivers = [subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) for _ in range(2)]
    for driver in drivers:
        assert driver.stdin is not None
        driver.stdin.write("\n")
        driver.stdin.flush()
    assert sorted(driver.communicate()[0].split() for driver in drivers) == [["made", "x"], ["x"]]


def test_the_least_recently_used_go(data: DataDirectory) -> None:
    def sized(directory: Path) -> None:
        (directory / "000001.sst").write_text("x" * 100)

    bases = BaseCache(data, 250)
    for time_s, key in enumerate(("a", "b")):
        bases.clone(key, sized, data.new_directory())
        os.utime(data.bases / key, (time_s, time_s))
    bases.clone("a", fail, data.new_directory())
    clone = data.new_directory()
    bases.clone("c", sized, clone)
    assert sorted(path.name for path in data.bases.iterdir()) == ["a", "a.lock", "c", "c.lock"]
    assert bases.evict() == 200
    assert list(data.bases.iterdir()) == []
    assert (clone / "000001.sst").read_text() == "x" * 100


def test_a_base_larger_than_the_quota_stays_while_it_is_used(data: DataDirectory) -> None:
    bases = BaseCache(data, 1)
    for key in ("a", "b"):
        clone = data.new_directory()
        bases.clone(key, make, clone)
        assert (clone / "CURRENT").is_file()
    assert sorted(path.name for path in data.bases.iterdir() if path.is_dir()) == ["b"]


def test_bases_leave_as_much_free_as_they_take(data: DataDirectory, monkeypatch: pytest.MonkeyPatch) -> None:
    def sized(directory: Path) -> None:
        (directory / "000001.sst").write_text("x" * 100)

    # 300 bytes of bases and 100 free: half of 400 may be kept.
    bases = BaseCache(data, 1 << 30)
    for time_s, key in enumerate(("a", "b", "c")):
        monkeypatch.setattr(DataDirectory, "free_bytes", lambda self, left=300 - time_s * 100: left)
        bases.clone(key, sized, data.new_directory())
        os.utime(data.bases / key, (time_s, time_s))
    assert sorted(path.name for path in data.bases.iterdir() if path.is_dir()) == ["b", "c"]


def test_cleaning(tmp_path: Path) -> None:
    path = tmp_path / "data"
    assert clean_data(path) == 0
    assert not path.exists()
    data = DataDirectory(path)
    BaseCache(data, 1 << 30).clone("k", make, data.new_directory())
    size = directory_bytes(data.bases / "k")
    assert clean_data(path) == size > 0
    data._held.close()
    # The driver is gone: its clone, without LOG and LOCK, is left over.
    left = directory_bytes(path / "runs")
    assert clean_data(path) == left > 0
    assert list((path / "runs").iterdir()) == []


def workload(**changes: Any) -> WorkloadSpec:
    document = {"name": "w", "keys": 1000, "preload": {"keys": 500}, "sessions": [{"mix": {"put": 1.0}}]}
    return WorkloadSpec.model_validate(document | changes)


def test_the_key_is_of_what_decides_the_data() -> None:
    key = base_key(workload(), OPTIONS, 0, "7.8.3")
    for same in ({"name": "other"}, {"threads": 3}, {"sessions": [{"mix": {"get": 1.0}}]}):
        assert base_key(workload(**same), OPTIONS, 0, "7.8.3") == key
    others = (
        {"keys": 2000},
        {"preload": {"keys": 501}},
        {"preload": {"keys": 500, "random_order": True}},
        {"key_bytes": 20},
        {"value": {"low": 10}},
        {"value_compressed_fraction": 0.9},
    )
    keys = {base_key(workload(**other), OPTIONS, 0, "7.8.3") for other in others}
    keys.add(base_key(workload(), {**OPTIONS, "cf": {"num_levels": "6"}}, 0, "7.8.3"))
    keys.add(base_key(workload(), OPTIONS, 0, "7.8.4"))
    keys.add(base_key(workload(), OPTIONS, 1, "7.8.3"))
    assert len(keys - {key}) == len(others) + 3
    assert base_key(workload(), dict(reversed(OPTIONS.items())), 0, "7.8.3") == key


def test_the_key_of_an_aged_base_is_of_all_that_shapes_it() -> None:
    device, same = DeviceSpec(name="a", bandwidth_bytes_s=100), workload()

    def key(
        load: WorkloadSpec = same,
        place: DeviceSpec = device,
        seed: int = 1,
        version: str = "7.8.3",
        rule: tuple[float, ...] = (1.0,),
    ) -> str:
        return aged_base_key(load, place, OPTIONS, seed, version, rule)

    assert key() == key(workload(name="other"), device.model_copy(update={"name": "b"}))
    others = [
        key(workload(threads=3)),
        key(place=device.model_copy(update={"bandwidth_bytes_s": 200})),
        key(seed=2),
        key(version="11.8.1"),
        aged_base_key(workload(), device, {**OPTIONS, "cf": {"num_levels": "6"}}, 1, "7.8.3", (1.0,)),
        key(rule=(2.0,)),
    ]
    assert len({key(), *others}) == len(others) + 1
