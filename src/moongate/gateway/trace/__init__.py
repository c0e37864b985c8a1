"""Traces: a span for each request to a model and for each attempt, sent by OTLP to where `OTEL_*` says."""
