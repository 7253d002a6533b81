"""Quote many amounts of one pair on a cluster of Dask, which may have many machines.

python examples/batch_on_dask.py tcp://scheduler:8786   # workers need swapcli: pip install . distributed
python examples/batch_on_dask.py                        # a cluster of two processes on this machine
"""

import sys

from distributed import Client, LocalCluster

from swapcli import Market


def main(*address: str) -> None:
    cluster = address[0] if address else LocalCluster(n_workers=2, host="127.0.0.1", dashboard_address=None)
    with Client(cluster) as client, client.get_executor() as executor, Market.embedded("base") as market:
        orders = [("ETH", "USDC", str(amount)) for amount in range(1, 41)]
        for answer in market.quote_many(orders, executor):
            assert answer.quote, answer.error
            print(answer.quote.amount_in_decimal, answer.quote.amount_out_decimal)


if __name__ == "__main__":
    sys.exit(__doc__) if "--help" in sys.argv or len(sys.argv) < 2 else main(*sys.argv[1:])
