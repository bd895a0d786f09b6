"""Conformance suites for tuners, engines, executors, spaces and ledgers, and synthetic measurements."""
