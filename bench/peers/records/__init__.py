"""The app that haystack indexes."""
