"""The parameters that an endpoint describes are those that it reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product

import pytest

from swapcli.core.model.api_version import ApiVersion
from swapcli.core.networks.catalogue import find_network, network_names
from swapcli.faces.service.parameter_descriptions import describe_order
from swapcli.interface import requests
from swapcli.interface.requests import OrderParameters, RequestParameters
from tests.support.service import build_order_query, recipient_on

FORMS = (requests.ROUTE_V1, requests.ROUTE_V2, requests.PAYLOAD_V1, requests.PAYLOAD_V2)
CASES = [
    (name, form)
    for name, form in product(network_names(), FORMS)
    if form.api_version is ApiVersion.V1 or find_network(name).has_v2
]


class ReadNames(Mapping[str, object]):
    """Values that keep the names by which they are looked up."""

    def __init__(self, values: Mapping[str, object]) -> None:
        self.values_by_name, self.names = values, set[str]()

    def __getitem__(self, name: str) -> object:
        self.names.add(name)
        return self.values_by_name[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.values_by_name)

    def __len__(self) -> int:
        return len(self.values_by_name)


@pytest.mark.parametrize(("name", "form"), CASES)
def test_the_described_parameters_are_those_that_are_read(
    name: str, form: OrderParameters, monkeypatch: pytest.MonkeyPatch
) -> None:
    network, query = find_network(name), build_order_query(name, slippage="0.5", destination=recipient_on(name))
    values = ReadNames(query)
    monkeypatch.setattr(RequestParameters, "from_query", lambda _, kind: RequestParameters(values, kind))
    requests.parse_order([*query.items()], network, form)
    described = {each.name for each in describe_order(form, network)}
    # `reverse` is read where it is refused, too: ignoring it would quote another order.
    assert values.names - {"reverse"} == described - {"reverse"}
    assert values.names >= described
