"""Alaya's engine: long-term memory of AI agents, kept, found and traced."""
