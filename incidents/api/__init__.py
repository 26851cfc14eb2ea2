"""The JSON API, version 1: what it looks like, what it answers, and how it behaves at its edge."""
