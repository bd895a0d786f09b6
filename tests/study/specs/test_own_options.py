import contextlib
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from rocktune.errors import UserError
from rocktune.importing import ImportedOptions
from rocktune.space import BlockCache, OptionMaps, Space, space_document, space_from_document
from rocktune.study import make_request, own_notes, resolve, space_of
from rocktune.study.specs.own_options import (
    AskedMemory,
    OwnBaseline,
    OwnTerms,
    dropping_sentences,
    own_baseline,
)
from rocktune.study.specs.problem import baseline_of
from rocktune.study.specs.spec import StudySpec
from rocktune.testing.own_options import imported_options
from rocktune.units import MIB

DREMEL = space_document("dremel")
KEYS = 1e7


def options(cache: str | None = None, **table: str) -> OptionMaps:
    """Two memtables of 64 MiB and filters of 10 bits a key."""
    table = {"filter_policy": "bloomfilter:10:false"} | table
    if cache is not None:
        table["block_cache"] = cache
    return {
        "db": {"max_background_jobs": "4"},
        "cf": {"write_buffer_size": str(64 * MIB), "max_write_buffer_number": "2"},
        "table": table,
    }


def file(*caches: str | None, **families: OptionMaps) -> ImportedOptions:
    return imported_options(options(*caches), others=families)


def baseline(of: ImportedOptions, **asked: Any) -> OwnBaseline:
    return own_baseline(of, DREMEL, KEYS, AskedMemory(**asked))


FILTER_BYTES = 12_500_000
TAKEN = 2 * 64 * MIB + FILTER_BYTES


def test_the_files_cache_and_memory_are_used() -> None:
    own = baseline(file("capacity=512M;num_shard_bits=4"))
    assert own.options["table"]["block_cache"] == f"capacity={512 * MIB};num_shard_bits=4"
    assert own.memory_bytes == TAKEN + 512 * MIB
    assert (own.terms.cache, own.terms.memory) == ("options_file", "options_file")


def test_a_file_without_a_cache_gets_what_the_search_leaves() -> None:
    own = baseline(file())
    assert own.memory_bytes == 1000 * MIB
    assert own.options["table"]["block_cache"] == str(1000 * MIB - TAKEN)
    assert (own.terms.cache, own.terms.memory) == ("search", "space")
    given = baseline(file(), memory_bytes=2000 * MIB)
    assert given.options["table"]["block_cache"] == str(2000 * MIB - TAKEN)
    assert given.terms.memory == "asked"
    null = baseline(file("nullptr"))
    assert (null.options, null.memory_bytes, null.terms.cache) == (own.options, own.memory_bytes, "search")


def test_what_the_user_says_of_the_cache_comes_first() -> None:
    for of in (file(), file("64M")):
        own = baseline(of, block_cache=BlockCache(256 * MIB))
        assert own.options["table"]["block_cache"] == str(256 * MIB)
        assert own.memory_bytes == TAKEN + 256 * MIB
        assert own.terms.cache == "asked"


def test_a_store_without_a_cache_keeps_none_on_either_side() -> None:
    own = baseline(imported_options(options(no_block_cache="true")))
    assert "block_cache" not in own.options["table"]
    assert own.memory_bytes == TAKEN
    space = space_from_document(DREMEL, own.memory_bytes, KEYS, own.options)
    tuned = space.options(space.default())
    assert tuned["table"]["no_block_cache"] == "true"
    assert "block_cache" not in tuned["table"]
    with pytest.raises(UserError, match="no_block_cache=true"):
        baseline(
            imported_options(options(no_block_cache="true")),
            block_cache=BlockCache(MIB),
        )


def test_families_share_a_cache_only_where_the_user_says_so() -> None:
    both = file("1G", other=options("1G"))
    assert baseline(both).terms.families_with_cache == 2
    assert baseline(file(None, other=options("1G"))).terms.cache == "search"
    shared = baseline(file(None, other=options("1G")), shared_cache=True)
    assert shared.options["table"]["block_cache"] == str(1024 * MIB)
    with pytest.raises(UserError, match=r"caches differ \(default 1GiB \(LRU\), other 2GiB \(LRU\)\)"):
        baseline(file("1G", other=options("2G")), shared_cache=True)


def test_memtables_beyond_the_budget_are_refused_with_the_way_out() -> None:
    large = options()
    large["cf"]["write_buffer_size"] = str(1024 * MIB)
    with pytest.raises(UserError, match=r"may take 2GiB .* set the store's cache with --block-cache"):
        baseline(imported_options(large))


def test_the_cache_is_that_of_the_measured_family() -> None:
    own = baseline(imported_options(options("64M"), family="meta", others={"default": options("1G")}))
    assert own.options["table"]["block_cache"] == str(64 * MIB)
    assert (own.terms.family, own.terms.other_families) == ("meta", ("default",))
    assert own.terms.families_with_cache == 2


def _study(of: ImportedOptions, **given: Any) -> StudySpec:
    request = {"workload": "ycsb-a", "scale": "1/64", "options_file": "OPTIONS", "space": "dremel"} | given
    return resolve(make_request(request), "study", lambda _loaded: of)


@given(
    buffer_mib=st.integers(1, 512),
    buffers=st.integers(1, 12),
    bits=st.floats(0, 20).map(lambda bits: round(bits, 1)),
    cache_bytes=st.integers(1, 1 << 36),
    settings=st.sampled_from(["", ";num_shard_bits=3"]),
    memory_mib=st.none() | st.integers(1024, 65536),
)
def test_winner_and_baseline_have_the_same_memory_and_cache(
    buffer_mib: int, buffers: int, bits: float, cache_bytes: int, settings: str, memory_mib: int | None
) -> None:
    """The baseline's own values, laid over its file as a winner's are, give its memory and cache."""
    text = f"capacity={cache_bytes}{settings}" if settings else str(cache_bytes)
    theirs = {
        "db": {},
        "cf": {"write_buffer_size": str(buffer_mib * MIB), "max_write_buffer_number": str(buffers)},
        "table": {"filter_policy": f"bloomfilter:{bits}:false", "block_cache": text},
    }
    asked = AskedMemory(None if memory_mib is None else memory_mib * MIB)
    own = own_baseline(imported_options(theirs), DREMEL, KEYS, asked)
    assert own.options["table"]["block_cache"] == text
    space = None
    with contextlib.suppress(UserError):  # no configuration of the space fits so small a budget
        space = space_from_document(DREMEL, own.memory_bytes, KEYS, own.options)
    assume(space is not None)
    assert space is not None
    _require_equal_memory(space, own, settings, memory_mib is None)


def _require_equal_memory(space: Space, own: OwnBaseline, settings: str, as_in_file: bool) -> None:
    same = space.configuration_from_options(own.options)
    if as_in_file:
        laid_over = space.options(same)
        assert laid_over["table"]["block_cache"] == own.options["table"]["block_cache"]
        assert space.memory_shares(laid_over) == space.memory_shares(own.options)
        assert not [line for line in space.broken_rules(same) if "block cache" in line]
    tuned = space.options(space.default())
    assert space.memory_shares(tuned).total_bytes == own.memory_bytes
    assert tuned["table"]["block_cache"].endswith(settings)


def test_a_study_says_how_the_file_was_taken() -> None:
    spec = _study(file("512M", other=options("1G")))
    assert own_notes(spec) == [
        "Block cache of the baseline: 512MiB (LRU), as the OPTIONS file says.",
        "The file gives 2 of its column families a block cache. A file cannot say whether they share one; "
        "assumed is one cache each, as RocksDB makes them from a file (--shared-cache says that they share "
        "one).",
        own_notes(spec)[2],
        "Not in an OPTIONS file, and so absent on both sides: rate limiter, write buffer manager, Env, "
        "SstFileManager, row cache.",
        "Measured is column family 'default'; the file's others are left out: other.",
    ]
    assert own_notes(spec)[2].endswith(
        "what the file's memtables, filters and cache come to; baseline and winner have the same."
    )
    assert "because you said so" in own_notes(_study(file("512M"), memory="4GiB"))[1]
    limited = file("512M")
    limited.options["db"]["rate_limiter_bytes_per_sec"] = str(100 * MIB)
    assert "Rate limiter: 100MiB/s on both sides, as the OPTIONS file says." in own_notes(_study(limited))
    assert space_of(spec).memory_bytes == spec.memory_bytes


def test_studies_without_a_file_are_recorded_as_before() -> None:
    spec = resolve(make_request({"workload": "ycsb-a", "scale": "1/64", "space": "dremel"}), "study")
    assert "own_terms" not in spec.model_dump(mode="json")
    assert own_notes(spec) == []
    of = _study(file("512M"))
    assert StudySpec.model_validate(of.model_dump(mode="json")) == of


def test_flags_of_a_file_need_one() -> None:
    for name, value in (("block_cache", "1GiB"), ("shared_cache", True)):
        request = make_request({"workload": "ycsb-a", name: value})
        with pytest.raises(UserError, match=f"{name}: .* give --options-file too"):
            resolve(request, "study")


def test_terms_of_older_ledgers_keep_their_digest() -> None:
    """They have no account, and the names that were left out."""
    older = {"family": "default", "cache": "search", "memory": "space", "left_out": ["listeners"]}
    terms = OwnTerms.model_validate(older)
    assert terms.account is None
    assert "account" not in terms.model_dump(mode="json")
    own = baseline(file("512M"))
    again = OwnTerms.model_validate(own.terms.model_dump(mode="json"))
    assert again == own.terms
    assert again.account is not None


FIFO_SENTENCE = (
    "FIFO compaction drops the oldest data beyond 20MiB at full size. Lookups of dropped keys find nothing "
    "and are fast; space amplification counts these keys as stored."
)


def fifo_study(space: str, style: str = "kCompactionStyleFIFO", fifo: str = "") -> StudySpec:
    given = options("512M")
    given["cf"] |= {"compaction_style": style, "max_bytes_for_level_base": "1"}
    given["cf"] |= {"compaction_options_fifo": fifo} if fifo else {}
    request = make_request({"workload": "ycsb-a", "space": space, "protocol": "short"})
    return resolve(request, "study", lambda _: imported_options(given))


def test_a_store_that_drops_data_is_compared_with_its_like() -> None:
    spec = fifo_study("full", fifo="{allow_compaction=false;max_table_files_size=20971520;}")
    space = space_of(spec)
    names = {knob.name for knob in space.knobs}
    assert "write_buffer_size" in names
    assert not any(name.startswith(("universal", "max_bytes_for_level")) for name in names)
    rng = np.random.default_rng(1)
    for configuration in (baseline_of(spec, space), *space.sample(5, rng)):
        assert space.options(configuration)["cf"]["compaction_style"] == "kCompactionStyleFIFO"
    left_out, *notes = own_notes(spec)
    assert "compaction_style=kCompactionStyleFIFO, which drops data that other styles keep" in left_out
    assert FIFO_SENTENCE in notes


def test_fifo_without_a_size_has_rocksdbs_own() -> None:
    assert FIFO_SENTENCE.replace("20MiB", "1GiB") in own_notes(fifo_study("dremel"))


def test_a_store_that_keeps_its_data_has_all_knobs_of_compactions() -> None:
    spec = fifo_study("full", style="kCompactionStyleUniversal")
    assert "compaction_style" in {knob.name for knob in space_of(spec).knobs}
    assert not any("FIFO" in note for note in own_notes(spec))


def test_each_family_that_drops_data_is_named() -> None:
    fifo = {"compaction_style": "kCompactionStyleFIFO"}
    sentences = dropping_sentences({"cf": {}, "cf:logs": fifo, "cf:users": {}, "table:logs": {}})
    assert [each.partition(" drops")[0] for each in sentences] == ["FIFO compaction of logs"]
