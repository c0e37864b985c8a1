"""A Kimi vendor in a box: plays every known misbehaviour."""
