"""The fronts: OpenAI chat, Anthropic messages, OpenAI responses. Pure."""
