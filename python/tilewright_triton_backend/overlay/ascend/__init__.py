"""Stands in for the vendor's package, so that programs written for it run where it is not installed."""
