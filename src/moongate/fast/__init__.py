"""What exists only for speed. `MOONGATE_FAST=0` switches it off."""
