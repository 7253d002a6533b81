// Signs transactions as their users do: node sign.mjs LIBRARY KEY URL. Reads a transaction as JSON a line, and
// answers each with the signed transaction in hex.
import { createInterface } from "node:readline";

const [library, key, url] = process.argv.slice(2);

async function signer() {
  if (library === "viem") {
    const { privateKeyToAccount } = await import("viem/accounts");
    const account = privateKeyToAccount(key);
    return (transaction) => account.signTransaction(transaction);
  }
  const { JsonRpcProvider, Wallet } = await import("ethers");
  const wallet = new Wallet(key, new JsonRpcProvider(url));
  // What sendTransaction of a wallet does before it sends.
  return async (transaction) => wallet.signTransaction(await wallet.populateTransaction(transaction));
}

const sign = await signer();
for await (const line of createInterface({ input: process.stdin })) {
  console.log(await sign(JSON.parse(line)));
}
process.exit(0);
