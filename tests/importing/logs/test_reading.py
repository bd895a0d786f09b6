"""Names, excerpts, rolled files, several openings, and other shapes of LOG files."""

from datetime import datetime
from pathlib import Path

import pytest
from tests.importing.logs.made import GOLDENS, TABLE, Write, document, header, message, only

from rocktune.importing.logs import LogFileError, StallCause, looks_like_log

CASES = Path(__file__).parent / "cases"

NAMES = ("two words", "a:b", 'with "quotes"', "back\\nslash", "brackets [1] [JOB 2] x", "] ", "é", "")


@pytest.mark.parametrize("name", NAMES)
def test_any_name_of_a_family(write: Write, name: str) -> None:
    text = (
        header(0, "9.9.3")
        + message(1, f"[db/column_family.cc:630] --------------- Options for column family [{name}]:")
        + message(1, "          Options.write_buffer_size: 1024")
        + message(
            2,
            "[WARN] [db/column_family.cc:931] "
            f"[{name}] Stalling writes because we have 5 level-0 files rate 99",
        )
        + message(3, f"[db/flush_job.cc:935] [{name}] [JOB 7] Flushing memtable with next log file: 8")
        + message(4, 'EVENT_LOG_v1 {"job": 7, "event": "flush_finished", "lsm_state": [1]}')
        # RocksDB writes the name as it is.
        + message(
            4, f'EVENT_LOG_v1 {{"job": 8, "event": "compaction_started", "cf_name": "{name}", "score": 1}}'
        )
        + message(5, 'EVENT_LOG_v1 {"job": 8, "event": "compaction_finished", "num_output_files": 1}')
        + message(5, f"[db/db_impl.cc:432] [{name}] Level summary: files[1 0 0] max score 0.25")
        + message(6, "[db/db_impl.cc:500] ------- DUMPING STATS -------")
        + message(6, "[db/db_impl.cc:501]").rstrip()
        + TABLE.format(family=name)
    )
    opening = only(write(text))
    assert opening.families == (name,)
    assert opening.option("write_buffer_size", name) == "1024"
    assert opening.option("write_buffer_size") is None
    (stall,) = opening.stall_periods
    assert (stall.family, stall.min_rate_bytes_s) == (name, 99)
    assert stall.over == datetime(2026, 3, 4, 10, 0, 5)
    assert opening.flushes[0].family == opening.compactions[0].family == name
    assert not opening.unread
    assert opening.levels[0].files == (1, 0, 0)
    assert opening.dumps[0].families[0].family == name


def test_a_rolled_file_continues_the_opening(write: Write) -> None:
    for session in ("ABCDEFGHIJKLMNOPQRST", ""):
        write(header(0, "9.9.3", session) + message(1, "[WARN] first"), "LOG.old.1")
        newer = write(header(60, "9.9.3", session, opens=False) + message(61, "[WARN] second"))
        opening = only(newer.parent)
        assert [each.text for each in opening.messages] == ["first", "second"]
        assert opening.seconds == 61


def in_directory(directory: str, second: float, session: str, opens: bool = True) -> str:
    """Returns the first lines of a database's LOG."""
    line = message(second, f"SST files in {directory} dir, Total Num: 3, files: 000007.sst ")
    return header(second, "9.9.3", session, opens) + line


@pytest.mark.parametrize("sessions", [("A" * 20, "B" * 20), ("", "")])
def test_files_of_two_databases_stay_apart(write: Write, sessions: tuple[str, str]) -> None:
    one, other = sessions
    files = [
        write(in_directory("/one", 0, one) + message(1, "[WARN] first"), "one-LOG.old.1"),
        write(in_directory("/the other", 5, other) + message(6, "[WARN] another"), "other-LOG"),
        write(in_directory("/one", 9, one, opens=False) + message(10, "[WARN] second"), "one-LOG"),
        write(in_directory("/third", 20, "", opens=False) + message(21, "[WARN] third"), "third-LOG"),
    ]
    found = document(*files)
    assert [(each.directory, [message.text for message in each.messages]) for each in found.openings] == [
        ("/one", ["first", "second"]),
        ("/the other", ["another"]),
        ("/third", ["third"]),
    ]
    assert found.notes == (
        "The files name 3 directories of databases, with these openings: /one: 1; /the other: 2; /third: 3.",
    )


def test_a_reopened_database_has_two_openings(write: Write) -> None:
    for sessions in (("A" * 20, "B" * 20), ("", "")):
        write(header(0, "5.18.4", sessions[0]) + message(1, "[WARN] first"), "LOG.old.1")
        newer = write(header(60, "5.18.4", sessions[1]) + message(61, "[WARN] second"))
        openings = document(newer.parent).openings
        assert [each.messages[0].text for each in openings] == ["first", "second"]


def test_files_joined_into_one(write: Write) -> None:
    one, other = "A" * 20, "B" * 20
    path = write(
        header(0, "9.9.3", one)
        + message(1, "[WARN] first")
        + header(2, "9.9.3", one, opens=False)
        + message(3, "[WARN] second")
        + header(4, "8.6.7", other)
        + message(5, "[ERROR] third")
    )
    openings = document(path).openings
    assert [(each.version, each.session, each.warnings, each.errors) for each in openings] == [
        ("9.9.3", one, 2, 0),
        ("8.6.7", other, 0, 1),
    ]


def test_files_are_ordered_by_their_times(write: Write) -> None:
    late = write(message(100, "[WARN] late"), "a")
    early = write(message(1, "[WARN] early"), "b")
    found = document(late, early, late)
    assert found.files == (str(early), str(late))
    assert [each.text for each in found.openings[0].messages] == ["early", "late"]


@pytest.mark.parametrize(
    ("text", "version", "base"),
    [
        ("SpeeDB version: 2.0.0", "2.0.0", ""),
        ("Speedb version: 2.6.0-? (8.1.1)", "2.6.0", "8.1.1"),
        ("Speedb version: 2.2.1-(#(HEAD detached)+1) (7.7.8)", "2.2.1", "7.7.8"),
    ],
)
def test_speedb(write: Write, text: str, version: str, base: str) -> None:
    stall = "[default] Stalling writes because we have 3 level-0 files. delayed write rate: 4096"
    free = message(5, "[WARN] WC no longer enforcing stop writes") + message(
        7, "[WARN] WC no longer enforcing delay"
    )
    opening = only(write(message(0, text) + message(1, f"[WARN] {stall}") + free + message(9, "[WARN] end")))
    assert (opening.product, opening.version, opening.rocksdb_version) == ("Speedb", version, base)
    assert opening.stalls[0].min_rate_bytes_s == 4096
    assert opening.stalls[0].max_s == 6


def test_indented_text(write: Write) -> None:
    opening = only(write("  " + header(0, "9.9.3").replace("\n", "\n  ")))
    assert (opening.version, opening.rocksdb_version, len(opening.options)) == ("9.9.3", "9.9.3", 1)


def test_versions_before_5_1_print_sizes_in_megabytes(write: Write) -> None:
    table = TABLE.replace("Files   Size ", "Files   Size(MB)").replace("36.10 MB", "36.10")
    (row,) = only(write(table.format(family="default"))).dumps[0].families[0].levels
    assert row.size_bytes == 36.10 * (1 << 20)
    assert (row.files, row.compacting_files, row.write_gb, row.compactions) == (2, 1, 4.8, 351)


def test_columns_that_only_a_later_version_has(write: Write) -> None:
    table = TABLE.replace("KeyDrop", "KeyDrop Sparkle(GB)").replace(
        "      0      0\n", "      0      0  7.5\n"
    )
    (row,) = only(write(table.format(family="default"))).dumps[0].families[0].levels
    assert row.other == (("Sparkle(GB)", "7.5"),)
    assert row.keys_dropped == 0


def test_rows_that_do_not_match_are_named(write: Write) -> None:
    table = TABLE.replace("  L0      2/1   36.10 MB", "  L0      2/1")
    opening = only(write(table.format(family="default")))
    assert opening.dumps[0].families[0].levels == ()
    assert opening.dumps[0].families[0].total is not None
    (said,) = opening.unread
    assert "1 rows" in said
    assert "L0      2/1" in said


def test_a_message_of_another_thread_ends_a_table(write: Write) -> None:
    head, _, rest = TABLE.format(family="default").partition(" Sum")
    text = head + message(5, "[WARN] between", thread="2") + " Sum" + rest
    opening = only(write(message(4, "x").rstrip() + text))
    assert [row.level for row in opening.dumps[0].families[0].levels] == ["L0"]
    assert opening.messages[0].text == "between"


def test_options_set_later_do_not_replace_those_of_the_opening(write: Write) -> None:
    text = (
        header(0, "9.9.3")
        + message(1, "--------------- Options for column family [default]:")
        + message(1, "          Options.write_buffer_size: 1024")
        + message(9, "SetOptions() on column family [default], inputs:", "1")
        + message(9, "a message in between", "2")
        + message(9, "write_buffer_size: 2048", "1")
        + message(9, "[default] SetOptions() succeeded", "1")
        + message(9, "          Options.write_buffer_size: 2048", "1")
        + message(10, "SetOptions() on [1] column families, inputs:", "1")
        + message(10, "Set options on column family [x y] (0/1), inputs:", "1")
        + message(10, "level0_stop_writes_trigger: 40", "1")
        + message(10, "Set options on column family [x y] (0/1) succeeded, updated CF options:", "1")
        + message(11, "SetDBOptions(), inputs:", "1")
        + message(11, "max_background_jobs: 8", "1")
        + message(11, "[WARN] SetDBOptions failed", "1")
    )
    opening = only(write(text))
    assert opening.option("write_buffer_size", "default") == "1024"
    assert [(each.family, each.name, each.value) for each in opening.changes] == [
        ("default", "write_buffer_size", "2048"),
        ("x y", "level0_stop_writes_trigger", "40"),
    ]
    assert opening.failed_changes == 1


@pytest.mark.parametrize(
    "failure",
    ["[WARN] [default] SetOptions() failed", "[WARN] SetOptions() failed: Invalid argument: x"],
)
def test_options_of_a_refused_call_are_no_changes(write: Write, failure: str) -> None:
    call = message(9, "SetOptions() on column family [default], inputs:", "1")
    inputs = message(9, "write_buffer_size: 2048", "1") + message(9, "ttl: x", "1")
    refused = only(write(header(0, "9.9.3") + call + inputs + message(9, failure, "1")))
    assert (refused.changes, refused.failed_changes) == ((), 1)
    # Without a result nobody knows; the LOG was cut there.
    cut = only(write(header(0, "9.9.3") + call + inputs))
    assert ([each.name for each in cut.changes], cut.failed_changes) == (["write_buffer_size", "ttl"], 0)


def test_a_stall_is_over_when_the_log_shows_less(write: Write) -> None:
    stop = (
        "[WARN] [default] Stopping writes because we have 4 immutable memtables (waiting for flush), max is 4"
    )
    text = (
        message(0, stop)
        + message(1, "[default] [JOB 3] Flushing memtable")
        + message(2, 'EVENT_LOG_v1 {"job": 3, "event": "flush_finished", "immutable_memtables": 3}')
        + message(8, stop)
        + message(9, "[default] Increasing compaction threads because we have 9 level-0 files ")
        + message(20, "[WARN] end")
    )
    opening = only(write(text))
    assert [(each.cause, each.max_s, each.min_s) for each in opening.stall_periods] == [
        (StallCause.MEMTABLES, 2, 0),
        (StallCause.MEMTABLES, 1, 0),
    ]
    (summary,) = opening.stalls
    assert (summary.periods, summary.messages, summary.max_s) == (2, 2, 3)


def test_old_and_new_stall_counts_have_the_same_names(write: Write) -> None:
    old = (
        "Stalls(count): 1 level0_slowdown, 2 level0_slowdown_with_compaction, 3 level0_numfiles, "
        "4 level0_numfiles_with_compaction, 5 stop for pending_compaction_bytes, 6 slowdown for "
        "pending_compaction_bytes, 7 memtable_compaction, 8 memtable_slowdown, interval 9 total count\n"
    )
    family = only(write(TABLE.format(family="default") + "\n" + old)).dumps[0].families[0]
    assert dict(family.stalls) == {
        "l0-file-count-limit-delays": 1,
        "cf-l0-file-count-limit-delays-with-ongoing-compaction": 2,
        "l0-file-count-limit-stops": 3,
        "cf-l0-file-count-limit-stops-with-ongoing-compaction": 4,
        "pending-compaction-bytes-stops": 5,
        "pending-compaction-bytes-delays": 6,
        "memtable-limit-stops": 7,
        "memtable-limit-delays": 8,
    }


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "no line of it is from a RocksDB LOG"),
        (b"hello\nworld\n", "no line of it is from a RocksDB LOG"),
        ("2026/03/04".encode("utf-16"), "UTF-16"),
        (b"\x1f\x8b\x08\x00rest", "compressed (gzip)"),
    ],
)
def test_other_files_are_refused(write: Write, content: bytes, said: str) -> None:
    with pytest.raises(LogFileError) as failure:
        document(write(content))
    assert said in str(failure.value)
    assert "\n" not in str(failure.value)


def test_paths_that_are_no_files(tmp_path: Path) -> None:
    for path, said in (
        (tmp_path, "no file LOG"),
        (tmp_path / "missing", "No such file"),
        (Path("/dev/null"), "no regular file"),
        (tmp_path / "a\0b", "LOG file"),
    ):
        with pytest.raises(LogFileError) as failure:
            document(path)
        assert said in str(failure.value)


def test_a_log_is_told_from_other_files(tmp_path: Path) -> None:
    def looks(content: bytes) -> bool:
        file = tmp_path / "file"
        file.write_bytes(content)
        return looks_like_log(file)

    assert all(looks_like_log(each) for each in GOLDENS)
    assert all(looks_like_log(each) for each in CASES.iterdir())
    assert not looks(b"")
    assert not looks(b"time_us,operation,key\n0,get,a\n" * 100_000)
    assert not looks(b"\x00\x01feedcafedeadbeef\tTrace Version: 0.2" + bytes(3 << 20))
    # What cannot be read is left to the reader, whose error says why.
    assert looks(b"\x1f\x8b" + bytes(100))
    assert looks_like_log(tmp_path / "missing")
