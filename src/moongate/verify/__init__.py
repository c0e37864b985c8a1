"""How good a vendor of Kimi is: asks it, judges each answer as it came and as the chain makes it, counts, reports."""
