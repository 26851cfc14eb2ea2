"""Addresses: the admin and everything that the incidents app serves."""

from django.contrib import admin
from django.urls import include, path

from incidents.api.api import api

urlpatterns = [
    path("admin/", admin.site.urls),
    path("", include("incidents.urls")),
    path("api/v1/", api.urls),
]

handler400 = "incidents.views.errors.bad_request"
handler403 = "incidents.views.errors.permission_denied"
handler404 = "incidents.views.errors.page_not_found"
handler500 = "incidents.views.errors.server_error"
