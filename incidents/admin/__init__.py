"""Editing: the desk of editors and reviewers. Rules live in models and `incidents.lifecycle`; here is only comfort."""

from incidents.admin import accounts, check, desk, incident, proposals, search_terms, vocabulary

__all__ = ["accounts", "check", "desk", "incident", "proposals", "search_terms", "vocabulary"]
