// Routes all orders of a market with Tines, Sushi's router, and times it.
//
//   node run_tines.mjs --market FILE --orders FILE --out FILE [--flows N] [--passes 1] [--budget 120]
//
// The market and orders are files as the benchmark writes them. An order is split into `flows` parts; by default Tines
// chooses: it compares one path with 100 parts if gas costs nothing, as here. Every order is routed once, then again in
// up to `passes` passes in all while `budget` seconds last; times are medians of the later passes.
import fs from 'node:fs'
import { parseArgs } from 'node:util'
import tines from '@sushiswap/tines'

const TEXT = { type: 'string' }
const { values: options } = parseArgs({
  options: {
    market: TEXT,
    orders: TEXT,
    out: TEXT,
    flows: TEXT,
    passes: { ...TEXT, default: '1' },
    budget: { ...TEXT, default: '120' },
  },
})
const flows = options.flows === undefined ? undefined : Number(options.flows)
const [passes, budgetMs] = [Number(options.passes), Number(options.budget) * 1000]
const FIRST_PASS_BUDGETS = 3 // the first pass may take this many times as long: each order counts once

function tokensOf(market) {
  const entries = market.tokens.map(({ address, symbol, decimals }) => [
    address,
    { name: symbol, symbol, address, decimals, chainId: market.network.chain_id, tokenId: address },
  ])
  return new Map(entries)
}

// Pools of other families are left out: Tines has no curve for them, or one that differs.
function poolOf(pool, tokens) {
  const [first, second] = pool.tokens.map((address) => tokens.get(address))
  const [x, y] = pool.reserves.map(BigInt)
  const start = [pool.address, first, second, pool.fee_ppm / 1e6, x, y]
  if (pool.family === 'constant_product') return new tines.ConstantProductRPool(...start)
  if (pool.family !== 'concentrated') return null
  const ticks = pool.ticks.map(([index, net]) => ({ index, DLiquidity: BigInt(net) }))
  return new tines.UniV3Pool(...start, pool.tick, BigInt(pool.liquidity), BigInt(pool.sqrt_price_x96), ticks)
}

function median(numbers) {
  const sorted = [...numbers].sort((one, other) => one - other)
  const middle = sorted.length >> 1
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

function timed(action) {
  const began = performance.now()
  const result = action()
  return [result, performance.now() - began]
}

const market = JSON.parse(fs.readFileSync(options.market, 'utf8'))
const lines = fs.readFileSync(options.orders, 'utf8').split('\n').filter((line) => line.trim())
const orders = lines.map((line) => JSON.parse(line))
const tokens = tokensOf(market)
const [pools, buildMs] = timed(() => market.pools.map((pool) => poolOf(pool, tokens)).filter(Boolean))
const base = tokens.get(market.network.wrapped_native) ?? tokens.values().next().value

function route({ token_in: sold, token_out: bought, amount_in: amount }) {
  try {
    return tines.findMultiRouteExactIn(tokens.get(sold), tokens.get(bought), BigInt(amount), pools, base, 0, flows)
  } catch (error) {
    return { status: `Error: ${error.message}`, amountOut: 0, legs: [] }
  }
}

const rows = []
const began = performance.now()
for (const order of orders) {
  if (performance.now() - began > FIRST_PASS_BUDGETS * budgetMs) break
  const [found, firstMs] = timed(() => route(order))
  rows.push({
    id: order.id,
    status: found.status,
    amountIn: String(found.amountInBI ?? 0),
    amountOut: found.amountOut,
    legs: found.legs.map((leg) => [leg.poolAddress, leg.tokenFrom.address, leg.tokenTo.address, leg.swapPortion]),
    firstMs,
    laterMs: [],
  })
}
for (let pass = 1; pass < passes; pass++) {
  for (const [place, row] of rows.entries()) {
    if (performance.now() - began > budgetMs) break
    row.laterMs.push(timed(() => route(orders[place]))[1])
  }
}
for (const row of rows) {
  row.medianMs = row.laterMs.length ? median(row.laterMs) : row.firstMs
  delete row.laterMs
}
fs.writeFileSync(options.out, JSON.stringify({ flows, pools: pools.length, buildMs, orders: rows }))
