"""What tokens cost: counts out of a usage object, prices by host and model, costs in millionths of a dollar. Pure."""
