// Reads what wallets are handed: node handoffs.mjs. Each line of stdin is JSON with `batch`, a file of Safe's Transaction
// Builder, and `request`, one for wallet_sendCalls. Each is answered with a line: the transactions of the batch as the
// Transaction Builder imports them and its checksum, and the request that viem makes of the same calls.
//
// The rules of the Transaction Builder are those of apps/tx-builder in github safe-global/safe-wallet-monorepo: data is
// taken as it is, and without it the method is encoded by ethers, whose numbers are read as text, lists are split at
// their commas, and tuples are JSON. An input that cannot be encoded leaves no data at all.
import { createInterface } from "node:readline";
import { Interface, getAddress, id } from "ethers";
import { createWalletClient, custom } from "viem";

function parseInput(type, text) {
  if (/^tuple/.test(type)) return JSON.parse(text.trim());
  if (/\]$/.test(type)) {
    const inner = text.trim().slice(1, -1);
    const entries = inner === "" ? [] : inner.split(",");
    return entries.map((each) => parseInput(type.replace(/\[\]$/, ""), each.replace(/["']/g, "").trim()));
  }
  if (/^u?int/.test(type)) {
    if (text.trim() === "") throw new Error("an empty number");
    return BigInt(text.trim()).toString(10);
  }
  return text;
}

function encodeMethod(method, values) {
  try {
    const parsed = method.inputs.map((each, number) =>
      parseInput(each.type, values?.[each.name || String(number)] || ""),
    );
    return new Interface([{ ...method, type: "function" }]).encodeFunctionData(method.name, parsed);
  } catch {
    return "0x";
  }
}

function importBatch({ transactions }) {
  const isValid = transactions.every(
    (each) =>
      typeof each.value === "string" &&
      Object.values(each.contractInputsValues ?? {}).every((value) => typeof value !== "number"),
  );
  if (!isValid) throw new Error("a number that is not text");
  return transactions.map((each) => ({
    to: getAddress(each.to),
    value: each.value,
    data: each.data || (each.contractMethod ? encodeMethod(each.contractMethod, each.contractInputsValues) : "0x"),
  }));
}

function serialize(value) {
  if (Array.isArray(value)) return `[${value.map(serialize).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const names = Object.keys(value).sort();
  return `{${JSON.stringify(names)}${names.map((name) => `${serialize(value[name])},`).join("")}}`;
}

function checksum(batch) {
  const { checksum: _, ...meta } = batch.meta;
  return id(serialize({ ...batch, meta: { ...meta, name: null } }));
}

async function sendCalls({ params: [given] }) {
  let sent;
  const transport = custom({
    request: async (request) => {
      sent = request;
      return { id: "0x1" };
    },
  });
  const client = createWalletClient({ transport });
  await client.sendCalls({
    account: given.from ?? null,
    chain: { id: Number(given.chainId), name: "chain", nativeCurrency: {}, rpcUrls: { default: { http: [] } } },
    forceAtomic: given.atomicRequired,
    calls: given.calls.map((each) => ({ to: each.to, data: each.data, value: BigInt(each.value) })),
  });
  return { method: sent.method, params: sent.params };
}

for await (const line of createInterface({ input: process.stdin })) {
  const { batch, request } = JSON.parse(line);
  const answer = { imported: importBatch(batch), checksum: checksum(batch), sent: await sendCalls(request) };
  console.log(JSON.stringify(answer));
}
