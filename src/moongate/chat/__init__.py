"""The middle language: OpenAI chat completions as plain JSON objects."""
