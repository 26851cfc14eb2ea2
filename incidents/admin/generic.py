"""Django's generic classes as bases: the type checker wants their parameter, at run time they take none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin
from django.forms.models import BaseInlineFormSet

if TYPE_CHECKING:
    AnyModelAdmin = admin.ModelAdmin[Any]
    AnyTabularInline = admin.TabularInline[Any, Any]
    AnyStackedInline = admin.StackedInline[Any, Any]
    AnyModelForm = forms.ModelForm[Any]
    AnyInlineFormSet = BaseInlineFormSet[Any, Any, Any]
    AnyModelChoiceField = forms.ModelChoiceField[Any]
else:
    AnyModelAdmin = admin.ModelAdmin
    AnyTabularInline = admin.TabularInline
    AnyStackedInline = admin.StackedInline
    AnyModelForm = forms.ModelForm
    AnyInlineFormSet = BaseInlineFormSet
    AnyModelChoiceField = forms.ModelChoiceField

__all__ = [
    "AnyInlineFormSet",
    "AnyModelAdmin",
    "AnyModelChoiceField",
    "AnyModelForm",
    "AnyStackedInline",
    "AnyTabularInline",
]
