from pathlib import Path
from typing import Any

import pytest

from rocktune.cost import COST, COST_PARTS, Prices, Pricing, load_prices
from rocktune.errors import UserError
from rocktune.measurement import Measurement
from rocktune.testing.synthetic import synthetic_window

ALL = Prices(
    currency="USD",
    per_gb_written=0.001,
    per_gb_read=0.0005,
    per_cpu_hour=0.036,
    per_gb_hour_of_memory=0.01,
    per_gb_month_of_storage=0.73,
)


def window(**changes: Any) -> Measurement:
    """A million operations in 100 s, with round numbers."""
    raw: dict[str, Any] = {
        "from_s": 0.0,
        "until_s": 100.0,
        "operations": {"put": {"count": 1_000_000, "latency_ns": [[1000, 1_000_000]]}},
        "device_bytes": {
            "wal": 1e9,
            "flush": 1e9,
            "compaction_write": 2e9,
            "compaction_read": 2e9,
            "user_read": 1e9,
            "other": 9e9,
        },
        "cpu_s": 50.0,
        "memory_bytes": {"memtables": 1e8, "block_cache": 3e8, "table_readers": 1e8, "resident": 9e9},
        "db_bytes": 2e9,
    }
    return Measurement(raw | changes)


def test_each_part_by_hand() -> None:
    figures = {part: Pricing(ALL, 1).figure(window(), part) for part in COST_PARTS}
    assert figures == pytest.approx(
        {
            "cost_of_writes": 0.004,  # 4 GB
            "cost_of_reads": 0.0015,  # 3 GB
            "cost_of_cpu": 0.0005,  # 50 s
            "cost_of_memory": 0.01 * 0.5 * 100 / 3600,
            "cost_of_storage": 0.73 / 730 * 2 * 100 / 3600,
        }
    )
    assert Pricing(ALL, 1).figure(window(), COST) == pytest.approx(sum(figures.values()))


def test_a_model_has_the_cost_of_full_size() -> None:
    model = window(
        memory_bytes={"memtables": 1e8 / 64, "block_cache": 3e8 / 64, "table_readers": 1e8 / 64},
        db_bytes=2e9 / 64,
    )
    assert Pricing(ALL, 64).figure(model, COST) == pytest.approx(Pricing(ALL, 1).figure(window(), COST))


def test_unpaid_debt_is_charged_and_paid_debt_is_not_paid_back() -> None:
    pricing = Pricing(ALL, 1)
    # Twice the flushed and compacted bytes are owed; the log's are not. They take 150 s instead of 100 s.
    debt = {"owed_bytes": 10e9, "moved_bytes": 5e9, "busy_s": 75.0, "debt_s": 75.0}
    owing, plain = window(debt=debt), window()
    assert pricing.figure(owing, "cost_of_writes") == pytest.approx(0.001 * (1 + 2 * 3))
    assert pricing.figure(owing, "cost_of_reads") == pytest.approx(0.0005 * (1 + 2 * 2))
    for held in ("cost_of_memory", "cost_of_storage"):
        assert pricing.figure(owing, held) == pytest.approx(1.5 * pricing.figure(plain, held))
    ahead = window(debt=debt | {"owed_bytes": 1e9, "busy_s": 10.0, "debt_s": -5.0})
    assert pricing.figure(ahead, COST) == pytest.approx(pricing.figure(plain, COST))


def test_what_has_no_price_need_not_be_measured() -> None:
    cpu = Pricing(Prices(currency="EUR", per_cpu_hour=1.0), 1)
    assert cpu.parts == ("cost_of_cpu",)
    assert cpu.figure(window(memory_bytes={}, device_bytes={}), COST) == pytest.approx(50 / 3600)
    uncounted = Pricing(ALL, 1).figure(window(memory_bytes={}), COST)
    assert uncounted != uncounted
    idle = Pricing(ALL, 1).figure(window(operations={}), COST)
    assert idle != idle


def test_cost_of_windows_together_lies_between_theirs() -> None:
    first, second = synthetic_window(0.0, 2.0), synthetic_window(2.0, 5.0, throughput_ops_s=3000.0)
    pricing = Pricing(Prices(currency="USD", per_cpu_hour=1.0), 1)
    low, high = sorted(pricing.figure(each, COST) for each in (first, second))
    assert low < pricing.figure(first.merged(second), COST) < high


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('currency = "USD"\n', "all prices are 0; give at least one"),
        ("per_cpu_hour = 1.0\n", "currency: missing"),
        ('currency = "USD"\nper_cpu_hours = 1.0\n', "did you mean 'per_cpu_hour'"),
        (
            'currency = "USD"\nper_cpu_hour = -1.0\n',
            "per_cpu_hour: input should be greater than or equal to 0",
        ),
    ],
)
def test_a_bad_file_is_one_line(text: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "prices.toml"
    file.write_text(text)
    with pytest.raises(UserError, match=message) as error:
        load_prices(file)
    assert str(file) in str(error.value)
    assert "\n" not in str(error.value)


def test_the_documented_example_is_read() -> None:
    example = load_prices(Path(__file__).parent.parent / "docs" / "prices.toml")
    assert example.currency == "USD"
    assert Pricing(example, 64).figure(synthetic_window(0.0, 2.0), COST) > 0
