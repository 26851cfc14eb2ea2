"""The OpenAPI document as frozen values that a template can print, its texts in the reader's language."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from django.utils.translation import gettext

EXAMPLES: Final[Mapping[str, str]] = {
    "getIndex": "/api/v1/",
    "listIncidents": "/api/v1/incidents/?q=인증서 만료&page_size=3&fields=id,title,url",
    "getIncident": "/api/v1/incidents/IL-0421/?html=1",
    "listRelated": "/api/v1/incidents/IL-0421/related/",
    "listCauses": "/api/v1/causes/",
    "getCause": "/api/v1/causes/dns-error/",
    "listComponents": "/api/v1/components/",
    "getComponent": "/api/v1/components/etcd/",
    "listFactors": "/api/v1/factors/",
    "getFactor": "/api/v1/factors/retry-storm/",
    "listDetections": "/api/v1/detections/",
    "getDetection": "/api/v1/detections/unknown/",
    "listOrganizations": "/api/v1/organizations/",
    "listChecks": "/api/v1/checks/",
    "getCheck": "/api/v1/checks/KC-001/",
    "resolveCitations": "/api/v1/citations/?id=IL-0421&id=IL-9999",
    "suggest": "/api/v1/suggest/?q=쿠버",
    "getStatistics": "/api/v1/stats/",
    "listExports": "/api/v1/export/?component=etcd",
    "exportNdjson": "/api/v1/export/library.ndjson?component=etcd",
    "exportCsv": "/api/v1/export/library.csv?component=etcd",
}


@dataclass(frozen=True)
class ParameterRow:
    """A parameter: its name, its type in words, what it does, the values it takes."""

    name: str
    place: str
    type: str
    description: str
    values: tuple[str, ...]
    is_required: bool
    is_repeatable: bool


@dataclass(frozen=True)
class AnswerRow:
    """A status that may come, what it means, and as what."""

    status: str
    description: str
    media_types: tuple[str, ...]
    model: str


@dataclass(frozen=True)
class OperationEntry:
    """One operation: `example` is an address that can be followed, empty where there is none."""

    anchor: str
    method: str
    path: str
    summary: str
    description: str
    parameters: tuple[ParameterRow, ...]
    body_model: str
    answers: tuple[AnswerRow, ...]
    example: str


@dataclass(frozen=True)
class OperationGroup:
    """Operations about one kind of thing."""

    name: str
    operations: tuple[OperationEntry, ...]


@dataclass(frozen=True)
class FieldRow:
    """A field of a model."""

    name: str
    type: str
    model: str
    description: str
    is_nullable: bool


@dataclass(frozen=True)
class ModelEntry:
    """A model of the schema."""

    name: str
    description: str
    fields: tuple[FieldRow, ...]


def operation_groups(document: Mapping[str, Any]) -> tuple[OperationGroup, ...]:
    """Return the operations under their tags, in the order of the document."""
    groups: dict[str, list[OperationEntry]] = {}
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            groups.setdefault(operation["tags"][0], []).append(_operation(method, path, operation))
    return tuple(OperationGroup(_local(name), tuple(entries)) for name, entries in groups.items())


def schema_models(document: Mapping[str, Any]) -> tuple[ModelEntry, ...]:
    """Return the models by name."""
    return tuple(
        ModelEntry(
            name,
            _local(str(model.get("description", ""))),
            tuple(_field(field, schema) for field, schema in model.get("properties", {}).items()),
        )
        for name, model in sorted(document["components"]["schemas"].items())
    )


def _local(text: str) -> str:
    """Return a text of the document in the reader's language; the document itself is Korean, one for everybody."""
    return gettext(text) if text else ""


def _operation(method: str, path: str, operation: Mapping[str, Any]) -> OperationEntry:
    return OperationEntry(
        anchor=operation["operationId"],
        method=method.upper(),
        path=path,
        summary=_local(operation["summary"]),
        description=_local(operation.get("description", "")),
        parameters=tuple(_parameter(parameter) for parameter in operation["parameters"]),
        body_model=_body_model(operation),
        answers=tuple(_answer(status, answer) for status, answer in operation["responses"].items()),
        example=EXAMPLES.get(operation["operationId"], ""),
    )


def _parameter(parameter: Mapping[str, Any]) -> ParameterRow:
    schema = parameter["schema"]
    is_repeatable = schema.get("type") == "array"
    inner = schema["items"] if is_repeatable else schema
    return ParameterRow(
        name=parameter["name"],
        place=parameter["in"],
        type=_bounded(inner),
        description=_local(parameter.get("description", "")),
        values=tuple(str(value) for value in inner.get("enum", ())),
        is_required=bool(parameter.get("required")),
        is_repeatable=is_repeatable,
    )


def _bounded(schema: Mapping[str, Any]) -> str:
    kind = str(schema.get("type", "string"))
    return f"{kind} {schema['minimum']}–{schema['maximum']}" if "minimum" in schema and "maximum" in schema else kind


def _body_model(operation: Mapping[str, Any]) -> str:
    for content in operation.get("requestBody", {}).get("content", {}).values():
        return _reference(content["schema"])
    return ""


def _answer(status: str, answer: Mapping[str, Any]) -> AnswerRow:
    content: Mapping[str, Any] = answer.get("content", {})
    models = [_reference(one["schema"]) for one in content.values()]
    return AnswerRow(status, _local(answer["description"]), tuple(content), next((name for name in models if name), ""))


def _reference(schema: Mapping[str, Any]) -> str:
    """Return the name of the model that a schema refers to, itself or as its items; empty where there is none."""
    if "$ref" in schema:
        return str(schema["$ref"]).rsplit("/", 1)[-1]
    for inner in (*schema.get("anyOf", ()), schema.get("items", {}), schema.get("additionalProperties", {})):
        if isinstance(inner, dict) and inner and (name := _reference(inner)):
            return name
    return ""


def _field(name: str, schema: Mapping[str, Any]) -> FieldRow:
    variants = [one for one in schema.get("anyOf", (schema,)) if one.get("type") != "null"]
    return FieldRow(
        name=name,
        type=" | ".join(dict.fromkeys(_type(one) for one in variants)),
        model=next((model for one in variants if (model := _reference(one))), ""),
        description=_local(str(schema.get("description", ""))),
        is_nullable=any(one.get("type") == "null" for one in schema.get("anyOf", ())),
    )


def _type(schema: Mapping[str, Any]) -> str:
    if "enum" in schema:
        return " | ".join(str(value) for value in schema["enum"])
    if "$ref" in schema:
        return "object"
    if schema.get("type") == "array":
        return f"{_type(schema.get('items', {}))}[]"
    return str(schema.get("type", "any"))
