"""What several gateways share through Redis or Valkey: limits, the list of nodes, what was learned of targets."""
