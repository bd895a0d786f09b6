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
        ),
    ),
    Paper(
        "alabed",
        "Multi-task Bayesian optimisation (Alabed and Yoneki, EuroMLSys 2021)",
        (
            Finding("Related tasks save steps, on a test function", ("synthetic/multitask_*",)),
            Finding(
                "Ours: single-task's regret is at most twice that of BoTorch's tutorial loop; one task, four",
                ("synthetic/bo_regret_*",),
            ),
            Finding("Ours: a suggestion takes at most a tenth of a trial (s)", ("suggestion_time/*",)),
            Finding(
                "Ours, held out: three knobs decide, tasks have values (not on YCSB-A, where one knob"
                " decides), the store keeps a model's promises; then tuners after 30 steps and fresh runs of"
                " their winners",
                (
                    "held_out/*_knobs_that_*",
                    "held_out/*_coverage_*",
                    "held_out/*_kept_*",
                    "held_out/*_after_30",
                    "held_out/*_on_the_store",
                ),
            ),
        ),
    ),
    Paper(
        "jia_chen",
        "Multi-objective tuning (Jia and Chen)",
        (
            Finding(
                "Ours: figures 11 and 12 with repeated individuals measured again",
                (
                    "tuning_time/charged_share_of_exhaustive_time_*",
                    "tuning_time_sata/charged_share_of_exhaustive_time_*",
                ),
            ),
            Finding(
                "Finding 6: epsilon-constraint takes longer than the slowest other; repeats charged, free;"
                " faster device, slower one",
                (
                    "tuning_time/*epsilon_constraint_over_slowest_other",
                    "tuning_time_sata/*epsilon_constraint_over_slowest_other",
                ),
            ),
            Finding(
                "Finding 6: at most 5% of what studies with epsilon-constraint recommend breaks the bound by"
                " more than a run's noise; faster, slower device",
                (
                    "tuning_time/epsilon_constraint_studies_that_break_*",
                    "tuning_time_sata/epsilon_constraint_studies_that_break_*",
                ),
            ),
            Finding(
                "Ours: intervals from samples of 540 configurations contain the exhaustive table's extremes",
                ("sampled/*",),
            ),
            Finding(
                "Ours: the model of the noise predicts the throughput of the exhaustive table's best 200"
                " configurations, ten runs of each, within 2%",
                ("top/model_error_of_throughput_ops_s",),
            ),
            Finding(
                "Ours: no two algorithms that a model of a sample of 540 configurations tells apart are in"
                " another order than on the whole table",
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
                "Ours: through five workloads the first controller, Lerp with the cost curve, is faster than"
                " any fixed K and any threshold, and within a tenth of the best; on a store",
                ("dynamic/*_regret", "dynamic/static*_over_*", "dynamic/greedy*_over_*"),
            ),
            Finding(
                "Ours: the same on a modelled store",
                (
                    "dynamic-modelled/*_regret",
                    "dynamic-modelled/static*_over_*",
                    "dynamic-modelled/greedy*_over_*",
                ),
            ),
            Finding(
                "Ours: on one workload Lerp with the cost curve is within 5% of the best K for all levels; on"
                " a store, uniform and Monkey's filters, Zipfian keys",
                (
                    "static_workloads-long/*_best",
                    "static_workloads-monkey/*_best",
                    "static_workloads-zipfian/*_best",
                ),
            ),
            Finding(
                "Ours: on one workload of a modelled store Lerp, its actor alone, is within 5% of the best K"
                " for all levels; uniform and Monkey's filters",
                ("static_workloads-modelled*/*_best",),
            ),
            Finding(
                "Ours: on a modelled store the cost curve is within 2% of a choice by true costs; sessions of"
                " 200, 400 and 1,000 missions",
                ("ablation/curve_over_true-costs_*",),
            ),
            Finding(
                "Ours: on a modelled store the cost controller with Monkey's filters takes at most 0.65 of"
                " Lerp's time with uniform ones, at equal memory; sessions of 200, 400 and 1,000 missions",
                tuple(f"cost_controller-{n}/cost_over_recorded_lerp" for n in (200, 400, 1000)),
            ),
            Finding(
                "Ours: in random orders of these sessions it takes at most 1.03 times as long as the best"
                " choice in hindsight, less time than K = 5, 7 and 10, and settles within ten missions; then"
                " it leaves a stationary workload alone",
                (
                    "cost_controller-*/cost_over_hindsight",
                    "cost_controller-*/cost_over_static*",
                    "cost_controller-*/cost_settles_after",
                    "stationary/*",
                ),
            ),
            Finding(
                "Ours: on a store, by counted work at the prices of a cloud volume and of an SSD, tuned"
                " leveled and tuned universal compaction cost 1.2 times as much as the cost controller, and"
                " any fixed K and any threshold as much",
                (
                    "priced_sessions/tuned_*_over_*",
                    "priced_sessions/static*_over_*",
                    "priced_sessions/greedy*_over_*",
                ),
            ),
            Finding(
                "Ours: by wall time on a cloud volume the best leveled and the best universal compaction of"
                " these sweeps take 1.2 times as long as the cost controller, and K = 10 as long",
                ("wall_time/*_over_*",),
            ),
            Finding(
                "Ours: the cost controller's thread uses at most 0.2% of a processor at full speed, and"
                " it adds no lock and no allocation to gets and puts",
                ("controller_cost/*",),
            ),
            Finding(
                "Ours: on a modelled store an idle agent takes longer than Lerp's; the same sessions",
                ("ablation/lerp-idle-agent_over_lerp_*",),
            ),
            Finding(
                "Ours: figures 7 and 12 on a modelled store in sessions of 200 and 400 missions: Lerp beats"
                " any fixed K and any threshold; in those of 1,000 K = 3, which the paper leaves out",
                (
                    *(
                        f"ablation/{rival}*_over_lerp_of_{n}"
                        for n in (200, 400)
                        for rival in ("static", "greedy")
                    ),
                    "ablation/static:3_over_lerp_of_1000",
                ),
            ),
            Finding(
                "Ours: at equal memory, actions of the cost controller other than K gain 3% over K alone; at"
                " the paper's size, and at five sizes",
                ("actions/*_over_k_*", "actions-sizes/*_over_k_*"),
            ),
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
            Finding(
                "A migration of 1 GB that is killed, cancelled or out of disk goes on to a whole copy",
                ("killed_migrations*/*",),
            ),
            Finding(
                "Options change under load within 2 s, bad files change nothing, and nothing is left behind",
                ("options_watcher*/*",),
            ),
            Finding("Runs vary by at most 3%; 7.8.3 and 11.8.1", ("repeatability*/throughput_*",)),
            Finding("A RAM disk in place of ext4 changes throughput by less than 5%", ("file_systems*/*",)),
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
            Finding(
                "In space `full`, tuner `auto` sustains more than the best by hand, and than the best rival;"
                " five searches of ycsb-a, one each of write-heavy, preloaded and read-heavy, and of ycsb-e,"
                " whose stores keep the sorted runs that loading left",
                ("campaign/*_auto_over_hand", "campaign/*_auto_over_rivals"),
            ),
            Finding(
                "A watch of a served store: no step in an hour without a change, shifts noticed, better"
                " options proven, applied and confirmed, the earlier ones back at a shift back, bad ones"
                " rolled back",
                ("watched_store/*",),
            ),
            Finding(
                "With each of five tables of `full` left out in turn, a search that begins with the best of"
                " the others takes half the runs until 95% of the best, and is never later by more than"
                " these",
                ("warm_start/*",),
            ),
            Finding(
                "A replayed trace has the live run's throughput within 5%, a sample of 1/16 within 10% and"
                " its hit ratio within 2 points, the profiled workload within 10%; three skews",
                ("trace_replay/*",),
            ),
            Finding(
                "On models of five recorded tables of `full`, `auto` ranks before the best by hand, random"
                " search, Dremel, TPE and GA (difference in mean rank)",
                ("offline/auto_rank_less_*",),
            ),
        ),
    ),
)
