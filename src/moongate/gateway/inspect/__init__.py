"""What requests were and what was made of them, for the pages at `/ui`: a list of the last ones, and captures."""
