"""The same with the models that datamodel-code-generator makes, as they serialise: nulls where a field is absent."""

from __future__ import annotations

import json
import sys

import httpx
import service_models as models

WAYS = {
    "base": (("route", "execute", "V1", "Execute"), ("v2/route", "v2/calldata", "V2", "CalldataV2")),
    "citrea": (("route", "execute", "V1", "Execute"), ("v2/route", "v2/calldata", "V2", "CalldataV2")),
    "monad": (("route", "calldata", "V1", "Execute"), ("v2/route", "v2/calldata", "V2", "CalldataV2")),
    "hyperevm": (("route", "calldata", "V1", "Execute"), ("v2/route", "v2/calldata", "V2", "CalldataV2")),
    "starknet": (("route", "execute", "V1", "StarknetExecute"),),
}


def main(url: str, network: str, order: dict[str, str], recipient: str) -> None:
    with httpx.Client(base_url=f"{url}/{network}/") as client:
        for ask, build, generation, payload_type in WAYS[network]:
            answer = client.get(ask, params=order).raise_for_status()
            found = getattr(models, f"Route{generation}").model_validate_json(answer.content)
            request_type = models.CalldataRequestV2 if generation == "V2" else models.ExecuteRequest
            for route in (found, models.PostedRoute.model_validate(found.model_dump(mode="json", by_alias=True))):
                terms = {"route": route.model_dump(by_alias=True), "slippage": 0.5, "destination": recipient}
                body = request_type.model_validate(terms).model_dump_json(by_alias=True)
                headers = {"Content-Type": "application/json"}
                built = client.post(build, content=body, headers=headers)
                assert built.status_code == 200, built.text
                payload = getattr(models, payload_type).model_validate_json(built.content)
                print(json.dumps([build, payload_type, found.outputAmount, payload.route.amount_out]))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], json.loads(sys.argv[3]), sys.argv[4])
