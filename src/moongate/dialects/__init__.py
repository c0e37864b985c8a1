"""The front doors: OpenAI chat, Anthropic messages, OpenAI responses. Pure."""
