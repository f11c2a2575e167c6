"""What HubSpot says when it refuses."""

import itertools
import json
from collections.abc import Sequence
from typing import Any

from tests.connectors.fakes.server import Refusal

Fault = tuple[str, str, str]
"""The code, the text and the property of a value that is refused."""
NUMBERS = itertools.count(1)


def error(category: str, message: str) -> dict[str, Any]:
    return {
        "status": "error",
        "message": message,
        "correlationId": f"00000000-0000-4000-8000-{next(NUMBERS):012x}",
        "category": category,
    }


def refuse(
    message: str, status: int = 400, category: str = "VALIDATION_ERROR"
) -> Refusal:
    return Refusal(status, error(category, message))


def not_found(message: str = "resource not found") -> Refusal:
    return refuse(message, 404, "OBJECT_NOT_FOUND")


def not_unique(type_id: str, key: str) -> Refusal:
    return refuse(
        f"Unable to perform update/upsert by non-unique {type_id} property {key} "
        "in portal ID 1"
    )


def invalid(faults: Sequence[Fault]) -> Refusal:
    told = [
        {"isValid": False, "message": text, "error": code, "name": name}
        for code, text, name in faults
    ]
    body = error(
        "VALIDATION_ERROR", f"Property values were not valid: {json.dumps(told)}"
    )
    body["errors"] = [
        {"message": text, "code": code, "context": {"propertyName": [name]}}
        for code, text, name in faults
    ]
    return Refusal(400, body)


def missing_scope(scope: str) -> Refusal:
    body = error(
        "MISSING_SCOPES",
        "This app hasn't been granted all required scopes to make this call.",
    )
    text = "One or more of the following scopes are required."
    context = {"requiredGranularScopes": [scope]}
    return Refusal(403, body | {"errors": [{"message": text, "context": context}]})


def lost(ids: Sequence[str], kind: str) -> dict[str, Any]:
    what = {"contacts": "CONTACT", "companies": "COMPANY"}[kind]
    told = error(
        "OBJECT_NOT_FOUND",
        f"Could not get some {what} objects, they may be deleted or not exist. "
        "Check that ids are valid.",
    )
    del told["correlationId"]
    return told | {"context": {"ids": list(ids)}}
