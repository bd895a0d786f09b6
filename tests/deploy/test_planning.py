import errno
from dataclasses import replace
from pathlib import Path

import pytest

from rocktune.deploy import PlannedChange, RolloutPlan, RunningRocksDb, Way, plan_of, running_store
from rocktune.device import DeviceSpec
from rocktune.engine.base import RunFailed
from rocktune.errors import UserError
from rocktune.importing import parsed_document
from rocktune.space import OptionMaps
from rocktune.trial import Status

DUMP = """\
2026/11/26-10:00:00.000000 7f RocksDB version: 8.5.3
2026/11/26-10:00:00.000001 7f [/db_impl/db_impl.cc:1] ------- DUMPING STATS -------
2026/11/26-10:00:00.000002 7f [/db_impl/db_impl.cc:2]
** Compaction Stats [default] **
Level    Files   Size     Score Read(GB)  Rn(GB) Rnp1(GB) Write(GB) Wnew(GB) Moved(GB) W-Amp Rd(MB/s) Wr(MB/s) Comp(sec) CompMergeCPU(sec) Comp(cnt) Avg(sec) KeyIn KeyDrop Rblob(GB) Wblob(GB)
------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  L0      2/0    2.00 KB   0.5      0.0     0.0      0.0       0.0      0.0       0.0   1.0      0.0      1.0      0.01              0.01         2    0.005       0      0       0.0       0.0
  L5      1/0    8.00 KB   0.0      0.0     0.0      0.0       0.0      0.0       0.0   1.0      0.0      1.0      0.01              0.01         2    0.005       0      0       0.0       0.0
 Sum      3/0   10.00 KB   0.0      0.0     0.0      0.0       0.0      0.0       0.0   1.0      0.0      1.0      0.01              0.01         2    0.005       0      0       0.0       0.0

"""  # noqa: E501 - as RocksDB writes it


def planned(
    database: Path, rocksdb: RunningRocksDb, text: str, device: DeviceSpec | None = None
) -> RolloutPlan:
    return plan_of(
        running_store(database), parsed_document(text.encode(), "NEW"), rocksdb, is_open=True, device=device
    )


def family(options: str, name: str = "default") -> str:
    return f'[CFOptions "{name}"]\n{options}\n'


def only(plan: RolloutPlan) -> PlannedChange:
    (change,) = plan.changes
    return change


def test_the_newest_options_are_the_present_ones(database: Path, rocksdb: RunningRocksDb) -> None:
    change = only(planned(database, rocksdb, family("write_buffer_size=32M")))
    assert (change.where, change.name) == ("cf default", "write_buffer_size")
    assert (change.before, change.after) == ("67108864", "33554432")
    assert (change.way, change.by) == (Way.LIVE, "SetOptions")


def test_each_family_has_its_own_changes(database: Path, rocksdb: RunningRocksDb) -> None:
    text = family("write_buffer_size=32M") + family("write_buffer_size=2M", "second")
    changes = planned(database, rocksdb, text).changes
    assert [(each.family, each.name, each.after) for each in changes] == [
        ("default", "write_buffer_size", "33554432"), ("second", "write_buffer_size", "2097152"),
    ]  # fmt: skip


def test_a_change_of_a_second_family_is_not_the_first_ones(database: Path, rocksdb: RunningRocksDb) -> None:
    text = family("write_buffer_size=64M") + family("num_levels=9", "second")
    change = only(planned(database, rocksdb, text))
    assert (change.family, change.name) == ("second", "num_levels")
    assert "not measured" not in change.note


def test_options_that_are_left_out_stay(database: Path, rocksdb: RunningRocksDb) -> None:
    plan = planned(database, rocksdb, family("write_buffer_size=1048576", "second"))
    assert plan.changes == ()
    assert plan.live == {"cf:second": {"write_buffer_size": "1048576"}}, "the watcher is to keep it"


def test_steps_go_from_shrinking_to_growing_memory(database: Path, rocksdb: RunningRocksDb) -> None:
    options = database / "OPTIONS-000010"
    options.write_text(options.read_text().replace("db_write_buffer_size=0", "db_write_buffer_size=1000000"))
    text = "[DBOptions]\nmax_background_jobs=5\ndb_write_buffer_size={}\n" + family("write_buffer_size=1M")
    shrinking = planned(database, rocksdb, text.format(500_000))
    assert [(each.step, each.name) for each in shrinking.changes] == [
        (1, "db_write_buffer_size"), (2, "max_background_jobs"), (3, "write_buffer_size"),
    ]  # fmt: skip
    growing = planned(database, rocksdb, text.format(2_000_000))
    assert [each.name for each in growing.changes][-1] == "db_write_buffer_size"


def test_triggers_change_with_the_switch_of_compactions(database: Path, rocksdb: RunningRocksDb) -> None:
    text = family("disable_auto_compactions=true\nlevel0_slowdown_writes_trigger=30")
    plan = planned(database, rocksdb, text)
    assert {each.step for each in plan.changes} == {1}, "one SetOptions, so no state in between"


def test_what_needs_another_opening(database: Path, rocksdb: RunningRocksDb) -> None:
    text = "[DBOptions]\nuse_fsync=true\ndb_write_buffer_size=1000000\n" + family("num_levels=8")
    plan = planned(database, rocksdb, text)
    assert {each.name: each.way for each in plan.changes} == {
        "use_fsync": Way.REOPEN, "db_write_buffer_size": Way.REOPEN, "num_levels": Way.REOPEN,
    }  # fmt: skip
    assert plan.live == {}


def test_fewer_levels_than_are_in_use_need_a_rewriting(database: Path, rocksdb: RunningRocksDb) -> None:
    (database / "LOG").write_text(DUMP)
    device = DeviceSpec(name="d", bandwidth_bytes_s=1024)
    change = only(planned(database, rocksdb, family("num_levels=4"), device))
    assert change.way is Way.REWRITE
    assert change.rewrite is not None
    assert change.rewrite.levels == (0, 5)
    assert change.rewrite.size_bytes == change.rewrite.space_bytes == 10 << 10
    assert change.rewrite.seconds == pytest.approx(20)
    assert only(planned(database, rocksdb, family("num_levels=6"))).way is Way.REOPEN, "L5 is the deepest"


def test_without_a_dump_all_tables_count(database: Path, rocksdb: RunningRocksDb) -> None:
    plan = planned(database, rocksdb, family("compaction_style=kCompactionStyleUniversal"))
    change = only(plan)
    assert (change.way, change.rewrite and change.rewrite.size_bytes) == (Way.REWRITE, 1000)
    assert "no dump with the levels of column family 'default'" in plan.notes[-1]


def test_new_files_alone_get_another_compression(database: Path, rocksdb: RunningRocksDb) -> None:
    change = only(planned(database, rocksdb, family("compression=kSnappyCompression")))
    assert change.way is Way.LIVE
    assert "only tables written from then on" in change.note
    assert change.rewrite is not None


def test_another_comparator_is_impossible(database: Path, rocksdb: RunningRocksDb) -> None:
    change = only(planned(database, rocksdb, family("comparator=my.Own")))
    assert (change.way, change.before) == (Way.IMPOSSIBLE, "leveldb.BytewiseComparator")


def test_a_class_of_the_application_needs_another_opening(database: Path, rocksdb: RunningRocksDb) -> None:
    text = '[TableOptions/BlockBasedTable "default"]\nfilter_policy=my.Filter\n'
    plan = planned(database, rocksdb, text)
    assert (only(plan).way, only(plan).after) == (Way.REOPEN, "my.Filter")
    assert plan.live == {}


def test_an_option_of_an_older_rocksdb_is_translated(database: Path, rocksdb: RunningRocksDb) -> None:
    plan = planned(database, rocksdb, family("max_mem_compaction_level=2\nsource_compaction_factor=1"))
    assert {left.name for left in plan.left_out} == {"max_mem_compaction_level", "source_compaction_factor"}
    old_name = planned(database, rocksdb, "[DBOptions]\nbase_background_compactions=3\n")
    assert all(change.way is Way.LIVE for change in old_name.changes)
    assert set(old_name.live.get("db", {})) == {change.name for change in old_name.changes}


def test_block_size_is_live_where_rocksdb_replaces_the_tables_factory(
    database: Path, rocksdb: RunningRocksDb
) -> None:
    change = only(planned(database, rocksdb, '[TableOptions/BlockBasedTable "default"]\nblock_size=8192\n'))
    major, minor = map(int, rocksdb.linked.version.split(".")[:2])
    assert change.way is (Way.LIVE if (major, minor) >= (9, 8) else Way.REOPEN)


def test_unknown_options_are_named(database: Path, rocksdb: RunningRocksDb) -> None:
    plan = planned(database, rocksdb, family("no_such_option=1"))
    assert plan.changes == ()
    (left,) = plan.left_out
    assert (left.where, left.name, left.given) == ("cf default", "no_such_option", "1")


def test_all_that_has_no_effect_is_named(database: Path, rocksdb: RunningRocksDb) -> None:
    text = (
        family("write_bufer_size=1M\nmax_background_jobs=3\ncompression_opts={levle=3;}")
        + "[Wishes]\nfast=1\n"
    )
    left = {each.name: (each.where, each.why) for each in planned(database, rocksdb, text).left_out}
    assert left.keys() == {
        "write_bufer_size", "max_background_jobs", "compression_opts", "compression_opts.levle", "fast",
    }  # fmt: skip
    assert left["write_bufer_size"][1].endswith("did you mean 'write_buffer_size'?")
    assert left["max_background_jobs"] == ("cf default", "it belongs in the section [DBOptions]")
    assert left["fast"] == ("Wishes", "RocksDB has no section [Wishes]")


def test_a_present_option_that_rocksdb_corrects_is_a_change(database: Path, rocksdb: RunningRocksDb) -> None:
    plan = planned(database, rocksdb, family("level0_file_num_compaction_trigger=80"))
    changes = {each.name: each for each in plan.changes}
    assert changes.keys() == {"level0_file_num_compaction_trigger", "level0_slowdown_writes_trigger"}
    corrected = changes["level0_slowdown_writes_trigger"]
    assert (corrected.before, corrected.after, corrected.way) == ("20", "80", Way.REOPEN)
    assert corrected.note == "RocksDB adjusts it when it opens the store"
    assert plan.live == {"cf:default": {"level0_file_num_compaction_trigger": "80"}}
    assert "level0_slowdown_writes_trigger must not be below" in plan.refused


def test_a_trial_that_fails_does_not_hide_the_plan(database: Path, rocksdb: RunningRocksDb) -> None:
    def crashing(present: OptionMaps, text: str) -> str:
        raise RunFailed(Status.CRASHED, "killed")

    plan = planned(database, replace(rocksdb, refusal=crashing), family("write_buffer_size=1M"))
    assert only(plan).name == "write_buffer_size"
    assert plan.refused == ""
    assert plan.notes[-1].startswith("Whether a running program takes the live options was not tried: ")


def test_a_column_family_that_the_database_lacks_is_refused(database: Path, rocksdb: RunningRocksDb) -> None:
    with pytest.raises(UserError, match=r"NEW, line 1: unknown column family 'secnd': did you mean 'second'"):
        planned(database, rocksdb, family("write_buffer_size=1M", "secnd"))


def test_a_value_that_rocksdb_misreads_is_refused(database: Path, rocksdb: RunningRocksDb) -> None:
    with pytest.raises(UserError, match=r"NEW.*write_buffer_size"):
        planned(database, rocksdb, family("write_buffer_size=-1"))


@pytest.mark.parametrize(
    ("broken", "message"),
    [("CURRENT", "holds no RocksDB database"), ("OPTIONS-*", "has no OPTIONS file")],
)
def test_a_directory_without_a_database_is_refused(database: Path, broken: str, message: str) -> None:
    for path in database.glob(broken):
        path.unlink()
    with pytest.raises(UserError, match=message):
        running_store(database)


def test_a_directory_that_cannot_be_read_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UserError, match="x: cannot be read: File name too long"):
        running_store(tmp_path / ("x" * 300))

    def refused(_path: Path) -> bool:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "is_file", refused)
    with pytest.raises(UserError, match="cannot be read: Permission denied"):
        running_store(tmp_path)
