"""Benchmarks. Every figure is a ratio within one run; nothing here is a test."""
