"""Generic transformers, by the names that configurations of unified LLM servers use. They compose with Kimi's."""
