"""The types of the JSON bodies: schemas can be generated from them."""

from __future__ import annotations

from typing import Any, get_args, get_origin, get_type_hints, is_typeddict

import pytest

from swapcli.interface import json_types, proof_types
from tests.examples import few

FORMS = [
    form
    for name, form in sorted((vars(json_types) | vars(proof_types)).items())
    if not name.startswith("_") and is_typeddict(form)
]


def parts(form: Any) -> list[Any]:
    """The types that a type contains, at any depth."""
    inner = list(get_type_hints(form).values()) if is_typeddict(form) else list(get_args(form))
    return [part for one in inner for part in (one, *parts(one))]


@pytest.mark.parametrize("form", few(FORMS, 30), ids=lambda form: form.__name__)
def test_a_form_ends_and_tells_what_it_is(form: Any) -> None:
    assert parts(form)
    assert form.__doc__.strip().endswith(".")


@pytest.mark.parametrize("form", few(FORMS, 30), ids=lambda form: form.__name__)
def test_no_choice_is_between_objects(form: Any) -> None:
    """A union of two object types would be ambiguous for msgspec."""
    for part in parts(form):
        if not is_typeddict(part) and get_origin(part) not in (list, dict, None):
            assert sum(is_typeddict(choice) for choice in get_args(part)) <= 1


def test_the_small_forms_agree_with_those_that_hold_them() -> None:
    whole = get_type_hints(json_types.RouteV2Json, include_extras=True)
    for small in (json_types.AfterFeeJson, json_types.IntegratorFieldsJson):
        assert get_type_hints(small).items() <= get_type_hints(json_types.RouteV2Json).items()
        assert all("NotRequired" in str(whole[key]) for key in get_type_hints(small))
    assert get_type_hints(json_types.RouteV1Json).items() <= get_type_hints(json_types.RouteV2Json).items()
    assert get_type_hints(json_types.RouteV2Json).keys() == get_type_hints(json_types.PostedRouteJson).keys()


def test_schemas_can_be_generated_from_the_types() -> None:
    from msgspec.json import schema_components

    _, components = schema_components(FORMS, ref_template="#/components/schemas/{name}")
    assert components.keys() == {form.__name__ for form in FORMS}
    route = components["RouteV2Json"]
    hints = get_type_hints(json_types.RouteV2Json, include_extras=True)
    assert set(route["required"]) == {key for key, hint in hints.items() if "NotRequired" not in str(hint)}
    assert route["description"].startswith("A route in V2.")
