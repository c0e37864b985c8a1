"""Tool calls that the model wrote as markup into text: the grammars of K2 and K3. Pure."""
