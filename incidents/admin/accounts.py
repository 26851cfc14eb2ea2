"""The admin's own name, and its accounts."""

from __future__ import annotations

from django.contrib import admin

admin.site.site_header = "사고 사례 라이브러리"
admin.site.site_title = "사고 사례 라이브러리"
admin.site.index_title = "편집"
