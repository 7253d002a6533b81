// The same with the types of openapi-typescript. The compiler checks, strictly, that a route can be posted as it is.

import createClient from "openapi-fetch";
import type { paths } from "./service_schema.js";

type Trip = Record<"network" | "amount" | "token_in_address" | "token_out_address" | "destination" | "unknown_token", string>;

const client = createClient<paths>({ baseUrl: process.argv[2]! });
const slippage = 0.5;

function must<T>(answer: { data?: T; error?: unknown }): T {
  if (answer.data === undefined) throw new Error(JSON.stringify(answer.error));
  return answer.data;
}

// Without a route, a response of status 200 says why.
function found<T extends object>(answer: T): Exclude<T, { errorMessage: string }> {
  if ("errorMessage" in answer) throw new Error(JSON.stringify(answer));
  return answer as Exclude<T, { errorMessage: string }>;
}

function reason<T extends object>(answer: T): string {
  if ("errorMessage" in answer) return String(answer.errorMessage);
  throw new Error(JSON.stringify(answer));
}

async function firstOnStarknet(query: Query, destination: string) {
  const route = found(must(await client.GET("/starknet/route", { params: { query: { ...query, details: true } } })));
  const own = must(await client.POST("/starknet/calldata", { body: { ...query, slippage, destination } }));
  const built = must(await client.POST("/starknet/calldata", { body: { route, slippage, destination } }));
  if (!Array.isArray(built) || Array.isArray(own) || !("swap_parameters" in own)) throw new Error("other forms");
  const executed = must(await client.POST("/starknet/execute", { body: { route, slippage, destination } }));
  return { first: [route.outputAmount, own.route.outputAmount, executed.route.amount_out], state: route.state?.kind };
}

async function firstOnHyperevm(query: Query, destination: string) {
  const route = found(must(await client.GET("/hyperevm/route", { params: { query: { ...query, details: true } } })));
  const own = found(must(await client.POST("/hyperevm/calldata", { body: { ...query, slippage, destination } })));
  const built = found(must(await client.POST("/hyperevm/calldata", { body: { route, slippage, destination } })));
  if (!("success" in own) || "success" in built) throw new Error("other forms");
  const executed = must(await client.POST("/hyperevm/execute", { body: { route, slippage, destination } }));
  return { first: [route.outputAmount, own.route.outputAmount, executed.route.amount_out], state: route.state?.kind };
}

async function firstOn(network: "base" | "citrea" | "monad", query: Query, destination: string) {
  const path = { network };
  const params = { path, query: { ...query, details: true } };
  const build = (body: CalldataBody) =>
    network === "citrea"
      ? client.POST("/citrea/calldata", { body })
      : client.POST("/{network}/calldata", { params: { path: { network } }, body });
  const route = found(must(await client.GET("/{network}/route", { params })));
  const own = found(must(await build({ ...query, slippage, destination })));
  const built = found(must(await build({ route, slippage, destination })));
  if (!("success" in own) || "success" in built) throw new Error("other forms");
  const body = { route, slippage, destination };
  const executed = must(await client.POST("/{network}/execute", { params: { path }, body }));
  return { first: [route.outputAmount, own.route.outputAmount, executed.route.amount_out], state: route.state?.kind };
}

async function secondOn(network: Evm, query: Query, destination: string): Promise<string[]> {
  const path = { network };
  const route = found(must(await client.GET("/{network}/v2/route", { params: { path, query } })));
  const body = { route, slippage, destination };
  const payload = must(await client.POST("/{network}/v2/calldata", { params: { path }, body }));
  return [route.outputAmount, payload.route.amount_out];
}

type Evm = "base" | "citrea" | "hyperevm" | "monad";
type Query = { amount: string; tokenInAddress: string; tokenOutAddress: string };
type CalldataBody = paths["/citrea/calldata"]["post"]["requestBody"]["content"]["application/json"];

async function travel(trip: Trip) {
  const { network, amount, destination } = trip;
  const query = { amount, tokenInAddress: trip.token_in_address, tokenOutAddress: trip.token_out_address };
  const ask = (tokenInAddress: string) => {
    const changed = { ...query, tokenInAddress };
    if (network === "starknet") return client.GET("/starknet/route", { params: { query: changed } });
    if (network === "hyperevm") return client.GET("/hyperevm/route", { params: { query: changed } });
    return client.GET("/{network}/route", { params: { path: { network: network as "base" }, query: changed } });
  };
  const told =
    network === "starknet"
      ? await firstOnStarknet(query, destination)
      : network === "hyperevm"
        ? await firstOnHyperevm(query, destination)
        : await firstOn(network as "base", query, destination);
  const second = network === "starknet" ? [] : await secondOn(network as Evm, query, destination);
  const no_route = reason(must(await ask(trip.unknown_token)));
  const fault = (await ask(query.tokenOutAddress)).error?.message;
  return { ...told, second, no_route, fault };
}

const trips = JSON.parse(process.argv[3]!) as Trip[];
const told = [];
for (const trip of trips) told.push(await travel(trip));
console.log(JSON.stringify(told));
