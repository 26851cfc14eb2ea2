"""Everything, or any choice of it, in one file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final
from urllib.parse import quote

from django.conf import settings
from django.http import HttpRequest, StreamingHttpResponse
from django.http.response import HttpResponseBase
from ninja import Query, Router

from incidents.api.answers import kept, kept_model, link_header
from incidents.api.parameters import ExportQuery
from incidents.api.representation import API_ROOT, absolute, instant
from incidents.api.schemas import ExportFile, ExportsOut
from incidents.exports import ExportChoice, csv_chunks, ndjson_chunks, read_choice
from incidents.exports.choice import LICENSE, LICENSE_URL

router = Router(tags=["내려받기"])

Writer = Callable[[ExportChoice], Iterator[bytes]]
FORMATS: Final[dict[str, tuple[str, str, str, Writer]]] = {
    "ndjson": ("library.ndjson", "application/x-ndjson", "한 줄에 기록 하나, API 와 같은 JSON", ndjson_chunks),
    "csv": ("library.csv", "text/csv; charset=utf-8", "스프레드시트용. BOM 이 있는 UTF-8", csv_chunks),
}


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
                    format=name,  # type: ignore[arg-type]  # checked by the model
                    media_type=media_type,
                    url=absolute(f"{API_ROOT}export/{filename}{query}"),
                    about=about,
                )
                for name, (filename, media_type, about, _) in FORMATS.items()
            ],
        )

    return kept_model(request, make)


def _add(name: str) -> None:
    filename, media_type, about, write = FORMATS[name]

    @router.get(
        f"/{filename}",
        response={200: None},
        url_name=f"export-{name}",
        operation_id=f"export{name.capitalize()}",
        summary=filename,
        description=f"{about}. 고른 것, 건수, 때, 허락은 머리글(X-Export-Filter, X-Total-Count, Last-Modified, Link)에 있습니다.",
    )
    def export(request: HttpRequest, params: Query[ExportQuery]) -> HttpResponseBase:  # type: ignore[valid-type]
        def make() -> HttpResponseBase:
            choice = read_choice(request.GET)
            response = StreamingHttpResponse(write(choice), content_type=media_type)
            describe_export(response, choice, filename)
            return response

        return kept(request, make, name)


def describe_export(response: HttpResponseBase, choice: ExportChoice, filename: str) -> None:
    """Say in the headers what the file holds: filter, total, revision, licence, and a name to save it by."""
    stem, _, suffix = filename.partition(".")
    day = choice.changed_at.strftime("%Y%m%d") if choice.changed_at else "empty"
    response["X-Total-Count"] = str(choice.total)
    response["X-Export-Filter"] = quote(choice.query, safe="=&+%,:")
    response["X-Library-Revision"] = str(choice.revision)
    response["Content-Disposition"] = f'attachment; filename="{stem}-{day}.{suffix}"'
    response["Link"] = link_header({"license": LICENSE_URL, "describedby": f"{settings.BASE_URL}/api/v1/docs/"})


for _name in FORMATS:
    _add(_name)
