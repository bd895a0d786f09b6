import pytest

from rocktune.errors import UserError
from rocktune.space import load_space
from rocktune.study.specs.tried import tried_of, tried_sentences
from rocktune.testing.own_options import imported_options

FULL = load_space("full", None, 1e7)


def test_a_file_becomes_the_nearest_configuration() -> None:
    file = imported_options(
        {
            "db": {"max_background_jobs": "4"},
            "cf": {
                "compaction_style": "kCompactionStyleUniversal",
                "level0_file_num_compaction_trigger": "8",
                "level0_slowdown_writes_trigger": "12",
                "level0_stop_writes_trigger": "24",
                "write_buffer_size": str(256 << 20),
                "max_write_buffer_number": "2",
            },
        }
    )
    (found,) = tried_of(FULL, ["mine/OPTIONS-7"], [file])
    FULL.validate(found.configuration)
    assert found.file == "OPTIONS-7"
    assert found.configuration["compaction_style"] == "kCompactionStyleUniversal"
    assert found.configuration["level0_file_num_compaction_trigger"] == 8
    assert found.configuration["max_background_jobs"] == 4
    assert "write_buffer_size: 128MiB instead of 256MiB" in found.differences
    # Of leveled compaction nothing is left, and that is no difference.
    assert not any("max_bytes_for_level" in each for each in found.differences)
    sentences = tried_sentences([found])
    assert sentences[0].startswith("Options that the space does not tune are the baseline's")
    assert sentences[1].startswith("Tried: OPTIONS-7, with ")
    assert tried_sentences([]) == []


def test_a_file_that_no_configuration_is_near_to_is_refused() -> None:
    # The stop trigger below the slowdown trigger breaks a rule, which bounds alone do not mend.
    file = imported_options(
        {"cf": {"level0_slowdown_writes_trigger": "20", "level0_stop_writes_trigger": "12"}}
    )
    with pytest.raises(UserError, match=r"try: bad/OPTIONS: .*rule"):
        tried_of(FULL, ["bad/OPTIONS"], [file])
