"""The formulas of LSM-trees, each written once. Pure functions of floats or arrays."""
