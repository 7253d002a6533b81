// Asks for a route and has it encoded, with the types that openapi-typescript makes: `URL NETWORK ORDER RECIPIENT`.
// The compiler checks, strictly, that a route response can be posted back as it is.

import createClient from "openapi-fetch";
import type { paths } from "./service_schema.js";

type Evm = "base" | "citrea" | "monad";
type Order = { amount: string; tokenInAddress: string; tokenOutAddress: string };

const [url, network, order, destination] = process.argv.slice(2) as [string, string, string, string];
const query = JSON.parse(order) as Order;
const client = createClient<paths>({ baseUrl: url });
const slippage = 0.5;

function report(operation: string, quoted: string, paid: string): void {
  console.log(JSON.stringify([operation, "", quoted, paid]));
}

function must<T>(answer: { data?: T; error?: unknown }): T {
  if (answer.data === undefined) throw new Error(JSON.stringify(answer.error));
  return answer.data;
}

// Without a route, a response of status 200 says why.
function mustFind<T extends { success: boolean }>(answer: { data?: T; error?: unknown }): Extract<T, { success: true }> {
  const route = must(answer);
  if (!route.success) throw new Error(JSON.stringify(route));
  return route as Extract<T, { success: true }>;
}

async function firstGeneration(name: Evm): Promise<void> {
  const params = { path: { network: name } };
  const route = mustFind(await client.GET("/{network}/route", { params: { ...params, query } }));
  const body = { route, slippage, destination };
  const payload = must(await client.POST("/{network}/execute", { params, body }));
  report("execute", route.outputAmount, payload.route.amount_out);
}

async function secondGeneration(name: Evm | "hyperevm"): Promise<void> {
  const params = { path: { network: name } };
  const route = mustFind(await client.GET("/{network}/v2/route", { params: { ...params, query } }));
  const body = { route, slippage, destination };
  const payload = must(await client.POST("/{network}/v2/calldata", { params, body }));
  report("v2/calldata", route.outputAmount, payload.route.amount_out);
}

async function starknet(): Promise<void> {
  const route = mustFind(await client.GET("/starknet/route", { params: { query } }));
  const payload = must(await client.POST("/starknet/execute", { body: { route, slippage, destination } }));
  report("starknet/execute", route.outputAmount, payload.route.amount_out);
}

if (network === "starknet") {
  await starknet();
} else if (network === "hyperevm") {
  await secondGeneration(network);
} else {
  await firstGeneration(network as Evm);
  await secondGeneration(network as Evm);
}
