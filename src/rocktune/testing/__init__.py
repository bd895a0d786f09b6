"""Conformance suites for new tuners, engines and ledger databases, and made-up measurements."""
