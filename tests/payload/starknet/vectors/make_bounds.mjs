// Lets starknet.js ask a node on loopback for the fee of an account's transaction, and prints what it makes of each
// estimate, as ../bounds.json: the bounds of the resources, and the most that the transaction costs.
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const require = createRequire(process.cwd() + "/");
const { RpcProvider, transaction } = require("starknet");
const { version } = JSON.parse(readFileSync(new URL("../package.json", pathToFileURL(require.resolve("starknet"))), "utf8"));

const RESOURCES = ["l1_gas", "l2_gas", "l1_data_gas"];
const EDGES = [0n, 1n, 2n, 3n, 5n, 2n ** 32n - 1n, 2n ** 63n + 1n, 2n ** 64n - 1n];
const PRICES = [0n, 1n, 3n, 8_000_000_001n, 54_000_000_000_001n, 2n ** 64n - 1n, 2n ** 127n + 1n, 2n ** 128n - 1n];

// A linear congruential generator, so that a second run makes the same cases.
let seed = 20261130n;
const random = (limit) => (seed = (seed * 6364136223846793005n + 1442695040888963407n) % 2n ** 64n) % limit;

function estimates() {
  const found = EDGES.map((edge, k) => RESOURCES.map((_, r) => [edge, PRICES[(k + r) % PRICES.length]]));
  for (let k = 0; k < 24; k += 1)
    found.push([[random(2n), 70_000_000_000_000n + random(10n ** 14n)], [random(10n ** 9n), random(10n ** 11n)], [random(10n ** 4n), random(10n ** 14n)]]);
  return found.map((pairs) => {
    const estimate = {};
    pairs.forEach(([amount, price], r) => {
      estimate[`${RESOURCES[r]}_consumed`] = `0x${amount.toString(16)}`;
      estimate[`${RESOURCES[r]}_price`] = `0x${price.toString(16)}`;
    });
    estimate.overall_fee = `0x${pairs.reduce((sum, [amount, price]) => sum + amount * price, 0n).toString(16)}`;
    return estimate;
  });
}

let current;
const server = createServer((request, response) => {
  let body = "";
  request.on("data", (part) => (body += part));
  request.on("end", () => {
    const { id, method } = JSON.parse(body);
    const result = method === "starknet_specVersion" ? "0.10.0" : [{ ...current, unit: "FRI" }];
    response.end(JSON.stringify({ jsonrpc: "2.0", id, result }));
  });
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));

const provider = new RpcProvider({ nodeUrl: `http://127.0.0.1:${server.address().port}` });
const none = { max_amount: 0n, max_price_per_unit: 0n };
const details = {
  nonce: 7, version: "0x100000000000000000000000000000003", tip: 0n, paymasterData: [], accountDeploymentData: [],
  nonceDataAvailabilityMode: "L1", feeDataAvailabilityMode: "L1",
  resourceBounds: { l1_gas: none, l2_gas: none, l1_data_gas: none },
};
const hex = (number) => `0x${number.toString(16)}`;
const cases = [];
for (current of estimates()) {
  const found = await provider.getInvokeEstimateFee({ contractAddress: "0x1", calldata: ["0x0"], signature: [] }, details, "latest", true);
  const bounds = Object.fromEntries(RESOURCES.map((name) => {
    const { max_amount, max_price_per_unit } = found.resourceBounds[name];
    return [name, { max_amount: hex(max_amount), max_price_per_unit: hex(max_price_per_unit) }];
  }));
  cases.push({ estimate: current, resource_bounds: bounds, overall_fee: found.overall_fee.toString() });
}
server.close();

const calls = [
  { contractAddress: "0x4718f5a0", entrypoint: "approve", calldata: ["0xf6f4", "1000", "0"] },
  { contractAddress: "0xf6f4", entrypoint: "swap", calldata: ["5", "6", "7"] },
];
const calldata = transaction.getExecuteCalldata(calls, "1").map((felt) => hex(BigInt(felt)));
console.log(JSON.stringify({ made_with: { "starknet.js": version }, cases, account: { calls, calldata } }));
