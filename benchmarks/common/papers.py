"""Findings of the papers and of rocktune, with the claims that test them."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """A finding of a paper, or of ours, in one sentence.

    Attributes:
        says: the sentence; with several claims it names them in their order.
        claims: patterns of claims, "experiment/name" as `fnmatch` reads them; observations do not count.
    """

    says: str
    claims: tuple[str, ...]


@dataclass(frozen=True)
class Paper:
    """A folder of evidence.

    Attributes:
        folder: its name in `benchmarks` and in `docs/evidence`.
        title: title of its page.
        findings: findings that its claims test.
    """

    folder: str
    title: str
    findings: tuple[Finding, ...]


PAPERS = (
    Paper(
        "dremel",
        "Dremel (Zhao et al., SIGMETRICS 2022)",
        (
            Finding(
                "Ours: on write-heavy one search's winner has 1.4 times the tuning guide's throughput;"
                " 7.8.3 and 11.8.1",
                ("throughput/dremel-write-heavy*", "throughput_release/*"),
            ),
            Finding(
                "Figure 8: the winner has up to 2.61 times the tuning guide's throughput, over 18 settings."
                " Here preloaded and read-heavy",
                ("throughput/dremel-preloaded*", "throughput/dremel-read-heavy*"),
            ),
        ),
    ),
    Paper(
        "alabed",
        "Multi-task Bayesian optimisation (Alabed and Yoneki, EuroMLSys 2021)",
        (
            Finding(
                "Figure 6: multi-task finds 1.38 ± 0.06 times the default's throughput in 100 steps",
                ("tuners/multitask-bo_verified",),
            ),
            Finding(
                "Figure 7: clustered multi-task has after 10 steps what single-task has after 60 (here: 30)",
                ("tuners/clustered_after_10_*",),
            ),
            Finding(
                "Figure 6: multi-task's winner has 90% of the best other tuner's throughput",
                ("tuners/multitask_over_*",),
            ),
            Finding("Related tasks save steps, on a test function", ("synthetic/multitask_*",)),
            Finding(
                "Ours: single-task's regret is at most twice that of BoTorch's tutorial loop; one task, four",
                ("synthetic/bo_regret_*",),
            ),
            Finding("Ours: a suggestion takes at most a tenth of a trial (s)", ("suggestion_time/*",)),
        ),
    ),
    Paper(
        "jia_chen",
        "Multi-objective tuning (Jia and Chen)",
        (
            Finding(
                "Figure 11: nine of ten searches succeed within 19% of the exhaustive time, 34% with"
                " epsilon-constraint. In turn GA, NSGA-II, SMPSO, this one, weighted sum; the faster device,"
                " success judged without the noise",
                ("tuning_time/share_of_exhaustive_time_*",),
            ),
            Finding(
                "The same with repeated individuals measured again",
                ("tuning_time/charged_share_of_exhaustive_time_*",),
            ),
            Finding(
                "Finding 6: epsilon-constraint takes longer than the slowest other; repeats charged, free",
                ("tuning_time/*epsilon_constraint_over_slowest_other",),
            ),
            Finding(
                "Finding 6: at most 5% of epsilon-constraint's recommendations break the bound",
                ("tuning_time/epsilon_constraint_recommendations_*",),
            ),
            Finding(
                "Figure 12: the same on the slower device, from a sample of 540 configurations",
                ("tuning_time_sata/share_of_exhaustive_time_*",),
            ),
            Finding(
                "Table IV, findings 10 and 11: threads and the number of write buffers matter most. Here the"
                " share of these two among the first two: not reproduced for write buffers, not refuted",
                ("importance/the_papers_*",),
            ),
            Finding(
                "Figure 10: epsilon-constraint recommends 23 configurations in turn",
                ("convergence/intermediate_*",),
            ),
            Finding(
                "Figure 13: share of the time at low throughput; GA 0.16, NSGA-II 0.32, SMPSO 0.26,"
                " epsilon-constraint 0.45, weighted sum 0.77",
                ("convergence/time_at_low_*",),
            ),
            Finding(
                "Figure 14: few leaders do for SMPSO, 24% of the exhaustive time with 4, 8, 16, 32 or 64",
                ("hyperparameters/*_leaders_*",),
            ),
            Finding(
                "Figure 15: a high mutation rate costs time, 0.15 of the whole at 0.01, 0.26 at 0.64",
                ("hyperparameters/*_mutation_rate_*",),
            ),
            Finding(
                "Ours: on a model of a sample of 540 configurations the algorithms have the table's order",
                ("interpolation/pairs_*",),
            ),
            Finding(
                "Ours: SMPSO and NSGA-II have 98% of the hypervolume of jMetalPy's and pymoo's",
                ("evolutionary_reference/*",),
            ),
        ),
    ),
    Paper(
        "governor",
        "Compaction governor (Warlo)",
        (
            Finding(
                "Figure 4.3: with the toggle RocksDB accepts 1.905 times the writes",
                ("wave/toggle_*_enabled",),
            ),
            Finding(
                "Figure 4.3: it accepts as many as without compactions (0.993)",
                ("wave/toggle_writes_over_disabled",),
            ),
            Finding(
                "Figure 4.10: it accepts 1.43 times the writes that raised triggers do",
                ("wave/toggle_writes_over_raised",),
            ),
            Finding(
                "Section 5.2, future work: throttling in proportion accepts the writes that the toggle does,"
                " or no compactions at all, and reads 1.5 and 2.5 times as fast; also with Bloom filters",
                ("debt_curve*/proportional*_over_*",),
            ),
            Finding(
                "Section 5.2: after 1000 s reads are as fast as without a governor",
                ("wave/proportional_reads_*",),
            ),
            Finding(
                "Ours: p99.9 of writes in the peak is a tenth of RocksDB's; the longest stop (ms)",
                ("peak_latency/*",),
            ),
            Finding("Ours: at low load it costs at most 3%, of throughput or CPU", ("low_load/*",)),
        ),
    ),
    Paper(
        "flsm",
        "FLSM-tree (RusKey, SIGMOD 2023)",
        (
            Finding(
                "Figure 10: a lazy transition takes 1.10 times as long as a flexible one, a greedy one 1.28"
                " times, and 1.16 times a lazy one",
                ("transitions/*_over_*",),
            ),
            Finding("Figure 10: a flexible transition makes no write spike", ("transitions/*_spike",)),
            Finding("Table 2: the formulas of transition costs", ("transition_costs/*",)),
            Finding(
                "Figures 6 and 8: K = 1 suits reads and K = 10 writes; keys that are there, and absent ones",
                ("tradeoff-cloud-gp3/the_*", "tradeoff-cloud-gp3-absent/the_*"),
            ),
            Finding(
                "Figures 6 and 8: a K between is best at half lookups; keys that are there, and absent ones",
                ("tradeoff-cloud-gp3/between_*", "tradeoff-cloud-gp3-absent/between_*"),
            ),
            Finding(
                "Ours: tuned, it has 97% of tuned RocksDB's throughput; read-heavy, balanced, write-heavy;"
                " and more where it is best",
                ("tuned/*",),
            ),
            Finding("Ours: scans have 90% of leveled compaction's speed", ("scans/*",)),
            Finding("Ours: statistics cost at most 3%", ("statistics_cost/*",)),
            Finding("Ours: the simulator's write amplification is within 10%", ("simulator/*",)),
        ),
    ),
    Paper(
        "ruskey",
        "Lerp (RusKey, SIGMOD 2023)",
        (
            Finding(
                "Figure 7: through five workloads Lerp is faster than any fixed K and any threshold, and"
                " within a tenth of the best; on a store",
                ("dynamic/lerp_regret", "dynamic/static*", "dynamic/greedy*"),
            ),
            Finding(
                "Figure 7 on a modelled store",
                ("dynamic-modelled/lerp_regret", "dynamic-modelled/static*", "dynamic-modelled/greedy*"),
            ),
            Finding(
                "Section 7: on one workload Lerp is within 5% of the best K for all levels; on a store",
                (
                    "static_workloads-long/*_best",
                    "static_workloads-monkey/*_best",
                    "static_workloads-zipfian/*_best",
                ),
            ),
            Finding("Section 7 on a modelled store", ("static_workloads-modelled*/*_best",)),
            Finding(
                "Section 7: it settles within 300 missions (write-heavy), 600 (balanced), 300 (read-heavy)",
                ("static_workloads-long/*_missions_to_settle",),
            ),
            Finding("Figure 13: learning takes 19 ms a mission", ("dynamic/learner_ms_*",)),
            Finding("Ours: the model's latencies are within 25% of the store's", ("costs/K*",)),
            Finding(
                "Ours: the agent's return is that of stable-baselines3, less at most 50",
                ("ddpg_reference/*",),
            ),
            Finding("Ours: serving costs at most 3% beside a learner", ("serving_cost/*",)),
            Finding("Ours: in two hours of serving nothing grows or stalls", ("soak/*",)),
        ),
    ),
    Paper(
        "rocktune",
        "rocktune's own claims",
        (
            Finding("The device gives its bandwidth within 3%", ("throttle*/*_over_bandwidth",)),
            Finding("A small read waits at most for one slice (us)", ("throttle*/wait_*",)),
            Finding("The device costs at most 3% where it does not limit", ("throttle*/wrapper_*",)),
            Finding("The runner has 97% of db_bench's speed", ("runner_*/*",)),
            Finding("Runs vary by at most 3%; 7.8.3 and 11.8.1", ("repeatability*/throughput_*",)),
            Finding("Parking changes nothing by 2%; 7.8.3 and 11.8.1", ("repeatability*/four_parks_*",)),
            Finding(
                "A 1/32 model ranks configurations as a 1/4 model does; preloaded, read-heavy, write-heavy",
                ("scale_model/*_spearman",),
            ),
            Finding(
                "Its choice is within 5% of the 1/4 model's; preloaded, write-heavy",
                ("scale_model/*_choice",),
            ),
            Finding(
                "Engines embedded and db_bench rank configurations alike; no device, 100 MB/s",
                ("db_bench_agreement*/*",),
            ),
            Finding(
                "Four Ray workers are 3.5 times as fast as one; a killed one costs at most one trial; no"
                " result differs",
                ("ray_scaling/*",),
            ),
            Finding(
                "A/A: of 20 studies of a configuration against itself at most two recommend the challenger",
                ("equal_terms/*",),
            ),
            Finding(
                "A/A, simulated: a proof recommends the challenger in at most 5% of studies; its intervals"
                " contain the ratio in 95%",
                ("proof_errors/*",),
            ),
            Finding(
                "explain names the planted cause first for 12 of 16 kinds of broken stores, and nothing for"
                " 10 healthy ones",
                ("explain/*",),
            ),
            Finding("A study's own time is at most 5%; 7.8.3 and 11.8.1", ("overhead*/*",)),
        ),
    ),
)
