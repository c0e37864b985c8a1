"""What several gateways share through Redis or Valkey: limits, who is there, what targets have taught."""
