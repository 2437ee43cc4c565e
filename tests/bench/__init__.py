"""Measurements, as ratios and medians of one run. Nothing here is asserted by the test suite."""
