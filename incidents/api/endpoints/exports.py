"""Everything, or any choice of it, in one file; and what changed."""

from __future__ import annotations

from urllib.parse import quote

from django.conf import settings
from django.http import HttpRequest, StreamingHttpResponse
from django.http.response import HttpResponseBase
from ninja import Query, Router

from incidents.api.answers import kept, kept_model, link_header
from incidents.api.parameters import ChangesQuery, ExportQuery
from incidents.api.reading import read_since, refuse_unknown
from incidents.api.representation import API_ROOT, absolute, instant
from incidents.api.schemas import ExportFile, ExportsOut
from incidents.exports import FORMS, LICENSE, LICENSE_URL, ExportChoice, ExportForm, changes_chunks, read_choice

router = Router(tags=["내려받기"])


@router.get("/", response=ExportsOut, url_name="exports", operation_id="listExports", summary="내려받을 것")
def list_exports(request: HttpRequest, params: Query[ExportQuery]) -> HttpResponseBase:  # type: ignore[valid-type]
    """고른 기록이 몇 건이며 어떤 꼴로 내려받을 수 있는지, 어떤 허락 아래 있는지."""

    def make() -> ExportsOut:
        choice = read_choice(request.GET)
        query = f"?{choice.query}" if choice.query else ""
        return ExportsOut(
            total=choice.total,
            filter=choice.query,
            includes=["published", *sorted(choice.states)],  # type: ignore[list-item]  # checked by the model
            updated_at=instant(choice.changed_at),
            revision=choice.revision,
            license=LICENSE,
            license_url=LICENSE_URL,
            files=[
                ExportFile(
                    format=form.name,  # type: ignore[arg-type]  # checked by the model
                    media_type=form.media_type,
                    url=absolute(f"{API_ROOT}export/{form.filename}{query}"),
                    about=form.about,
                )
                for form in FORMS
            ],
        )

    return kept_model(request, make)


def _add(form: ExportForm) -> None:
    @router.get(
        f"/{form.filename}",
        response={200: None},
        url_name=f"export-{form.name}",
        operation_id=f"export{form.name.capitalize()}",
        summary=form.filename,
        description=f"{form.about}. 고른 것, 건수, 허락은 X-Export-Filter, X-Total-Count, Link 머리글에 있습니다.",
    )
    def export(request: HttpRequest, params: Query[ExportQuery]) -> HttpResponseBase:  # type: ignore[valid-type]
        def make() -> HttpResponseBase:
            choice = read_choice(request.GET)
            response = StreamingHttpResponse(form.chunks(choice), content_type=form.media_type)
            describe_export(response, choice, form.filename)
            return response

        return kept(request, make, form.name)


def describe_export(response: HttpResponseBase, choice: ExportChoice, filename: str) -> None:
    """Say in the headers what the file holds: filter, total, revision, licence, and a name to save it by."""
    stem, _, suffix = filename.partition(".")
    day = choice.changed_at.strftime("%Y%m%d") if choice.changed_at else "empty"
    response["X-Total-Count"] = str(choice.total)
    response["X-Export-Filter"] = quote(choice.query, safe="=&+%,:")
    response["X-Library-Revision"] = str(choice.revision)
    response["Content-Disposition"] = f'attachment; filename="{stem}-{day}.{suffix}"'
    response["Link"] = link_header({"license": LICENSE_URL, "describedby": f"{settings.BASE_URL}/api/v1/docs/"})


for _form in FORMS:
    _add(_form)


@router.get("/changes.csv", response={200: None}, url_name="changes", operation_id="listChanges", summary="changes.csv")
def list_changes(request: HttpRequest, params: Query[ChangesQuery]) -> HttpResponseBase:  # type: ignore[valid-type]
    """게시하고 고치고 철회하고 병합한 것, 새것부터. `updated_since` 로 그 뒤의 것만."""

    def make() -> HttpResponseBase:
        refuse_unknown(request.GET, ("updated_since",))
        chunks = changes_chunks(settings.BASE_URL, read_since(request.GET))
        response = StreamingHttpResponse(chunks, content_type="text/csv; charset=utf-8")
        response["Content-Disposition"] = 'attachment; filename="changes.csv"'
        response["Link"] = link_header({"license": LICENSE_URL})
        return response

    return kept(request, make, "changes")
