"""Ask a running service (`swapcli serve`) for a quote, by the library and by plain HTTP.

python examples/service_client.py http://127.0.0.1:8000 base ETH USDC 1.5
"""

import json
import sys
from urllib.parse import urlencode
from urllib.request import urlopen

from swapcli import Market


def main(api_url: str, network: str, token_in: str, token_out: str, amount: str) -> None:
    with Market.service(network, api_url=api_url) as market:
        quote = market.quote(token_in, token_out, amount)
        print("library", quote.amount_out)
    query = {
        "tokenInAddress": quote.token_in.address,
        "tokenOutAddress": quote.token_out.address,
        "amount": quote.amount_in,
    }
    with urlopen(f"{api_url}/{network}/route?{urlencode(query)}", timeout=10) as response:
        print("http", json.load(response)["outputAmount"])


if __name__ == "__main__":
    sys.exit(__doc__) if "--help" in sys.argv or len(sys.argv) < 2 else main(*sys.argv[1:])
