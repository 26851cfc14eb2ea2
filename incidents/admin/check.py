"""The checks, with the incidents that are the reason for them."""

from __future__ import annotations

from django.contrib import admin

from incidents.admin.generic import AnyModelAdmin
from incidents.admin.inlines import OrderedInline, TermInline
from incidents.models import Check, CheckComponent, CheckFactor, Citation


class CheckComponentInline(TermInline):
    model = CheckComponent


class CheckFactorInline(TermInline):
    model = CheckFactor


class CitationInline(OrderedInline):
    model = Citation
    fields = ("incident", "why", "position")
    autocomplete_fields = ("incident",)


@admin.register(Check)
class CheckAdmin(AnyModelAdmin):
    list_display = ("code", "title", "area", "severity", "position")
    list_filter = ("severity", "area")
    search_fields = ("code", "title")
    inlines = (CheckComponentInline, CheckFactorInline, CitationInline)
