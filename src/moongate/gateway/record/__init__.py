"""What a request leaves in the log and the metrics."""
