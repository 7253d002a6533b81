// The same with the client that openapi-generator makes for fetch.

import * as api from "./service_client";

type Trip = Record<"network" | "amount" | "token_in_address" | "token_out_address" | "destination" | "unknown_token", string>;

const slippage = 0.5;
const connection = new api.Configuration({ basePath: process.argv[2]! });
const first = new api.FirstGenerationApi(connection);
const second = new api.SecondGenerationApi(connection);

function found<T extends object>(answer: T): Exclude<T, api.RouteNotFound | api.RouteNotFoundV2> {
  if ("errorMessage" in answer) throw new Error(JSON.stringify(answer));
  return answer as Exclude<T, api.RouteNotFound | api.RouteNotFoundV2>;
}

async function fault(asked: Promise<unknown>): Promise<unknown> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof api.ResponseError) return api.StatusFaultFromJSON(await error.response.json()).message;
    throw error;
  }
}

function operations(name: string) {
  const network = name as "base" | "monad";
  if (name === "starknet") {
    return {
      route: first.routeStarknet.bind(first),
      calldata: first.calldataStarknet.bind(first),
      execute: first.executeStarknet.bind(first),
    };
  }
  if (name === "hyperevm") {
    return {
      route: first.routeHyperevm.bind(first),
      calldata: first.calldataHyperevm.bind(first),
      execute: first.executeHyperevm.bind(first),
    };
  }
  return {
    route: (order: api.RouteHyperevmRequest) => first.route({ ...order, network }),
    calldata: (body: api.CalldataCitreaRequest) =>
      name === "citrea" ? first.calldataCitrea(body) : first.calldata({ ...body, network }),
    execute: (body: api.ExecuteHyperevmRequest) => first.execute({ ...body, network }),
  };
}

async function travel(trip: Trip) {
  const { network, amount, destination } = trip;
  const order = { amount, tokenInAddress: trip.token_in_address, tokenOutAddress: trip.token_out_address };
  const { route: ask, calldata, execute } = operations(network);

  const route = found(await ask({ ...order, details: true }));
  const own = found(await calldata({ calldataRequest: { ...order, slippage, destination } }));
  const executeRequest = { route: api.PostedRouteFromJSON(api.RouteV1ToJSON(route)), slippage, destination };
  const built = await calldata({ calldataRequest: executeRequest });
  if (Array.isArray(own) || !("success" in own) || "success" in built) throw new Error("other forms");
  if (network === "starknet" && !Array.isArray(built)) throw new Error("no felts");
  const executed = await execute({ executeRequest });
  const told = {
    first: [route.outputAmount, own.route.outputAmount, executed.route.amountOut],
    state: route.state?.kind,
    second: [] as string[],
  };
  if (network !== "starknet") {
    const place = { network: network as "base" };
    const route = found(await second.routeV2({ ...place, ...order }));
    const calldataRequestV2 = { route: api.PostedRouteFromJSON(api.RouteV2ToJSON(route)), slippage, destination };
    const payload = await second.calldataV2({ ...place, calldataRequestV2 });
    told.second = [route.outputAmount, payload.route.amountOut];
  }
  const refused = await ask({ ...order, tokenInAddress: trip.unknown_token });
  if (!("errorMessage" in refused)) throw new Error(JSON.stringify(refused));
  const same = await fault(ask({ ...order, tokenInAddress: order.tokenOutAddress }));
  return { ...told, no_route: refused.errorMessage, fault: same };
}

async function main(): Promise<void> {
  const told = [];
  for (const trip of JSON.parse(process.argv[3]!) as Trip[]) told.push(await travel(trip));
  console.log(JSON.stringify(told));
}

void main();
