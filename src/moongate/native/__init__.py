"""Providers whose API is that of a front (Anthropic messages, OpenAI responses): nothing is translated, requests and
answers are mended in place where Kimi needs it. Pure."""
