// Makes payloads with Uniswap's own SDK, and says of each what was asked for. In a folder with the SDK installed:
//
//     npm install @uniswap/universal-router-sdk@5.13.0
//     node PATH/TO/make_payloads.mjs 240 | xz -9 > PATH/TO/payloads.json.xz
//
// The second argument is the seed (1). Tokens and pools are those of the embedded market of Base, prices are near its.
import { createRequire } from "node:module";

const require = createRequire(process.cwd() + "/");
const { CurrencyAmount, Ether, Percent, Token, TradeType } = require("@uniswap/sdk-core");
const { Pair, Route: V2Route, Trade: V2Trade } = require("@uniswap/v2-sdk");
const { encodeSqrtRatioX96, Pool: V3Pool, Route: V3Route, TickMath } = require("@uniswap/v3-sdk");
const { Pool: V4Pool, Route: V4Route } = require("@uniswap/v4-sdk");
const { MixedRouteSDK, Trade: RouterTrade } = require("@uniswap/router-sdk");
const { SwapRouter, UniversalRouterVersion: Version } = require("@uniswap/universal-router-sdk");
const JSBI = require("jsbi");

const CHAIN = 8453;
const HOOKS = "0x0000000000000000000000000000000000000000";
const TOKENS = {
  WETH: ["0x4200000000000000000000000000000000000006", 18, 3120],
  USDC: ["0x833589fcd6edb6e08f4c7c32d4f71b54bda02913", 6, 1],
  cbBTC: ["0xcbb7c0000ab88b473b1f5afd9ef808440eed33bf", 8, 94217],
  AERO: ["0x940181a94a35a4569e4529a3cdfb74e38fd98631", 18, 0.7798],
  VIRTUAL: ["0x0b3e328455c4059eeb9e3f84b5543f74e24e7e1b", 18, 0.9202],
  USDT: ["0xfde4c96c8593536e31f229ea8f37b2ada2699bb2", 6, 1],
  EURC: ["0x60a3e35cc302bfa44cb288bc5a4f316fdb1adb42", 6, 1.158],
  wstETH: ["0xc1cba3fcea344f92d9239c08c0568f6f2f0ee452", 18, 3772],
  cbETH: ["0x2ae3f1ec7f1f5012cfeab0185bfc7aa3cf0dec22", 18, 3441],
};
const POOLS = [
  ["v3", "WETH", "USDC", 500, 10], ["v3", "WETH", "USDC", 3000, 60], ["v3", "WETH", "USDC", 100, 1],
  ["v2", "WETH", "USDC"], ["v3", "USDC", "AERO", 500, 10], ["v3", "USDC", "cbBTC", 500, 10],
  ["v3", "USDC", "cbBTC", 3000, 60], ["v2", "USDC", "cbBTC"], ["v3", "WETH", "cbBTC", 500, 10],
  ["v2", "WETH", "cbBTC"], ["v3", "WETH", "wstETH", 100, 1], ["v3", "cbETH", "WETH", 500, 10],
  ["v3", "VIRTUAL", "WETH", 500, 10], ["v2", "VIRTUAL", "WETH"], ["v3", "EURC", "USDC", 500, 10],
  ["v2", "EURC", "USDC"], ["v3", "USDC", "USDT", 100, 1], ["v3", "WETH", "USDT", 500, 10],
  ["v4", "ETH", "USDC", 500, 10], ["v4", "ETH", "USDC", 3000, 60], ["v4", "ETH", "cbBTC", 3000, 60],
  ["v4", "ETH", "wstETH", 100, 1], ["v4", "USDC", "cbBTC", 500, 10], ["v4", "USDC", "USDT", 100, 1],
  ["v4", "EURC", "USDC", 500, 10], ["v4", "ETH", "VIRTUAL", 3000, 60],
];
const VERSIONS = [Version.V2_0, Version.V2_1_1, Version.V2_1_2];

// mulberry32
let state = Number(process.argv[3] ?? 1);
function random() {
  state = (state + 0x6d2b79f5) | 0;
  let t = Math.imul(state ^ (state >>> 15), 1 | state);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
}
const below = (n) => Math.floor(random() * n);
const pick = (list) => list[below(list.length)];
const address = () => "0x" + Array.from({ length: 40 }, () => below(16).toString(16)).join("");

const ether = Ether.onChain(CHAIN);
const tokens = Object.fromEntries(
  Object.entries(TOKENS).map(([name, [at, decimals]]) => [name, new Token(CHAIN, at, decimals, name)]),
);
const currency = (name) => (name === "ETH" ? ether : tokens[name]);
const priceOf = (one) => TOKENS[one.isNative ? "WETH" : one.symbol][2];
const units = (one, usd) =>
  JSBI.BigInt(((BigInt(Math.round((usd / priceOf(one)) * 1e9)) * 10n ** BigInt(one.decimals)) / 10n ** 9n).toString());

function makePool([kind, first, second, fee, spacing]) {
  const [a, b] = [currency(first), currency(second)];
  if (kind === "v2")
    return new Pair(CurrencyAmount.fromRawAmount(a, units(a, 5e6)), CurrencyAmount.fromRawAmount(b, units(b, 5e6)));
  const sorted = a.isNative || (!b.isNative && a.sortsBefore(b)) ? [a, b] : [b, a];
  const root = encodeSqrtRatioX96(units(sorted[1], 1e6), units(sorted[0], 1e6));
  const tick = TickMath.getTickAtSqrtRatio(root);
  if (kind === "v3") return new V3Pool(...sorted, fee, root, "1000000000000000000", tick);
  return new V4Pool(...sorted, fee, spacing, HOOKS, root, "1000000000000000000", tick);
}
const pools = POOLS.map(makePool);
const kindOf = (pool) => (pool instanceof Pair ? "v2" : pool instanceof V3Pool ? "v3" : "v4");
const ends = (pool) => (kindOf(pool) === "v4" ? [pool.currency0, pool.currency1] : [pool.token0, pool.token1]);

// A random walk over pools of the allowed kinds. V2 and V3 know the native currency as its wrapped form.
function walk(start, kinds, hops) {
  let at = start;
  const used = [];
  const seen = new Set([start.wrapped.address]);
  for (let hop = 0; hop < hops; hop += 1) {
    const candidates = pools.filter((pool) => {
      if (!kinds.includes(kindOf(pool)) || used.includes(pool)) return false;
      const [a, b] = ends(pool);
      const other = a.wrapped.equals(at.wrapped) ? b : b.wrapped.equals(at.wrapped) ? a : null;
      return other !== null && !seen.has(other.wrapped.address);
    });
    if (!candidates.length) return null;
    const pool = pick(candidates);
    const [a, b] = ends(pool);
    at = a.wrapped.equals(at.wrapped) ? b : a;
    seen.add(at.wrapped.address);
    used.push(pool);
  }
  return { pools: used, end: at };
}

function makeRoute(kind, path, input, output) {
  if (kind === "v2") return new V2Route(path, input.wrapped, output.wrapped);
  if (kind === "v3") return new V3Route(path, input.wrapped, output.wrapped);
  if (kind === "v4") return new V4Route(path, input, output);
  return new MixedRouteSDK(path, input, output);
}

function makeCase(number) {
  const version = pick(VERSIONS);
  const isExactOut = random() < 0.4;
  const tradeType = isExactOut ? TradeType.EXACT_OUTPUT : TradeType.EXACT_INPUT;
  let kind = pick(["v2", "v3", "v3", "v4", "v4", "mixed"]);
  if (isExactOut && kind === "mixed") kind = "v3";
  const kinds = kind === "mixed" ? ["v2", "v3", "v4"] : [kind];
  let input = currency(pick(["ETH", "WETH", "USDC", "cbBTC", "EURC", "VIRTUAL", "USDT", "ETH"]));
  const first = walk(input, kinds, kind === "mixed" ? 2 + below(2) : 1 + below(2));
  if (first === null) return null;
  let output = first.end;
  if (output.wrapped.equals(tokens.WETH)) output = pick([ether, tokens.WETH]);
  const paths = [first.pools];
  for (let attempt = 0; attempt < 20 && paths.length < 1 + below(4); attempt += 1) {
    const other = walk(input, kinds, kind === "mixed" ? 2 + below(2) : 1 + below(2));
    if (other !== null && other.end.wrapped.equals(output.wrapped) && !other.pools.some((pool) => paths.flat().includes(pool)))
      paths.push(other.pools);
  }
  const usd = 50 + below(2000);
  const legs = paths.map((path) => {
    const amountIn = CurrencyAmount.fromRawAmount(input, units(input, usd * (1 + below(100) / 1e4)));
    const amountOut = CurrencyAmount.fromRawAmount(output, units(output, usd));
    if (kind !== "v2") return { path, amountIn, amountOut };
    const route = makeRoute(kind, path, input, output);
    const wrapped = (amount) => CurrencyAmount.fromRawAmount(amount.currency.wrapped, amount.quotient);
    const trade = new V2Trade(route, wrapped(isExactOut ? amountOut : amountIn), tradeType);
    return {
      path,
      amountIn: CurrencyAmount.fromRawAmount(input, trade.inputAmount.quotient),
      amountOut: CurrencyAmount.fromRawAmount(output, trade.outputAmount.quotient),
    };
  });
  const routes = { v2Routes: [], v3Routes: [], v4Routes: [], mixedRoutes: [] };
  for (const { path, amountIn, amountOut } of legs) {
    const route = makeRoute(kind, path, input, output);
    routes[`${kind}Routes`].push({ [kind === "mixed" ? "mixedRoute" : `route${kind}`]: route, inputAmount: amountIn, outputAmount: amountOut });
  }
  const trade = new RouterTrade({ ...routes, tradeType });
  const slippage = new Percent(5 + below(195), 10000);
  const options = { slippageTolerance: slippage, urVersion: version };
  if (random() < 0.6) options.recipient = address();
  if (random() < 0.8) options.deadlineOrPreviousBlockhash = 1900000000 + below(1000);
  if (random() < 0.3) options.safeMode = true;
  let fee = null;
  const feeKind = random();
  if (feeKind < 0.25) {
    const tenths = (1 + below(100)) * (version === Version.V2_0 ? 10 : 1);
    options.fee = { fee: new Percent(tenths, 100000), recipient: address() };
    fee = { recipient: options.fee.recipient, shareE18: (BigInt(tenths) * 10n ** 13n).toString() };
  } else if (feeKind < 0.35) {
    const amount = JSBI.divide(trade.outputAmount.quotient, JSBI.BigInt(200 + below(800)));
    options.flatFee = { amount: amount.toString(), recipient: address() };
    fee = { recipient: options.flatFee.recipient, amount: amount.toString() };
  }
  let { calldata, value } = SwapRouter.swapCallParameters(trade, { ...options });
  // The limits of the whole trade, and of its legs: the SDK asserts either, depending on the route.
  const total = BigInt(trade.minimumAmountOut(slippage).quotient.toString());
  const rounded = 1n + BigInt(legs.length);
  let minimum = total;
  if (isExactOut && fee !== null)
    minimum -= fee.amount ? BigInt(fee.amount) : (total * BigInt(fee.shareE18)) / 10n ** 18n;
  return {
    version,
    kind,
    exactOut: isExactOut,
    tokenIn: input.isNative ? "ETH" : input.address.toLowerCase(),
    tokenOut: output.isNative ? "ETH" : output.address.toLowerCase(),
    amountIn: trade.maximumAmountIn(slippage).quotient.toString(),
    minimum: minimum.toString(),
    tolerance: rounded.toString(),
    recipient: options.recipient?.toLowerCase() ?? null,
    deadline: options.deadlineOrPreviousBlockhash ?? null,
    fee,
    hops: legs.map(({ path }) => path.length),
    value: BigInt(value).toString(),
    calldata,
  };
}

const wanted = Number(process.argv[2] ?? 240);
const cases = [];
const failures = {};
for (let attempt = 0; cases.length < wanted; attempt += 1) {
  try {
    const made = makeCase(attempt);
    if (made !== null) cases.push(made);
  } catch (error) {
    const reason = error.message.slice(0, 60);
    failures[reason] = (failures[reason] ?? 0) + 1;
  }
}
console.error(failures);
console.log(JSON.stringify(cases, null, 0));
