"""The loop that measures: batches in, results back, everything through the ledger."""
