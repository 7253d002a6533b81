/*
 * Wallets that a browser extension puts into the page (EIP-1193, announced by EIP-6963).
 *
 * The page has no key and sends nothing. It describes a transaction to the wallet, which shows it to its user, signs and
 * sends it, or rejects it. All reads of the chain go through the wallet's own node.
 */

const RECEIPT_INTERVAL_MS = 1000, RECEIPT_TIMEOUT_MS = 180_000;
const MAX_WALLET_TEXT = 200;  // characters of a wallet's message that are shown
const GAS_MARGIN = 2n;  // gas prices move until the transaction is mined
const DEFAULT_SWAP_GAS = 500_000n;  // reserved for gas before there is a quote
const TRANSFER_TOPIC = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";  // Transfer(address,address,uint256)
const NATIVE_ADDRESS = "0x" + "0".repeat(40);

const toHex = number => "0x" + BigInt(number).toString(16);
const pad = address => address.slice(2).toLowerCase().padStart(64, "0");
const isSame = (one, other) => (one ?? "").toLowerCase() === (other ?? "").toLowerCase();
const isNativeToken = ({address}) => address === NATIVE_ADDRESS || /^0xe{40}$/i.test(address);

/** The wallet of the page: at most one provider is connected. `onChange` is called when its account or chain changes. */
class Wallet {
  constructor(onChange) {
    this.onChange = onChange;
    this.announced = new Map();
    this.provider = null;
    this.account = null;
    this.chainId = null;
    addEventListener("eip6963:announceProvider", ({detail}) => {
      if (typeof detail?.provider?.request !== "function") return;
      this.announced.set(String(detail.info?.uuid), {name: String(detail.info?.name ?? "").slice(0, 40), provider: detail.provider});
      onChange();
    });
  }

  /** Have the wallets announce themselves. */
  discover() {
    dispatchEvent(new Event("eip6963:requestProvider"));
  }

  /** The wallets to choose from: those that announce themselves, else the one that only injects itself. */
  get choices() {
    if (this.announced.size) return [...this.announced.values()];
    return typeof window.ethereum?.request === "function" ? [{name: "", provider: window.ethereum}] : [];
  }

  async connect(provider) {
    const [account] = await provider.request({method: "eth_requestAccounts"});
    if (!/^0x[0-9a-fA-F]{40}$/.test(account ?? "")) throw new Error("the wallet did not share an account");
    const chainId = await provider.request({method: "eth_chainId"});
    this.disconnect();
    Object.assign(this, {provider, account, chainId: Number(chainId)});
    this.listeners = {
      accountsChanged: ([first]) => { this.account = first ?? null; if (!first) this.disconnect(); this.onChange(); },
      chainChanged: id => { this.chainId = Number(id); this.onChange(); },
      disconnect: () => { this.disconnect(); this.onChange(); },
    };
    for (const [event, listener] of Object.entries(this.listeners)) provider.on?.(event, listener);
    this.onChange();
  }

  /** Forget the wallet. It may still list this page among the connected ones. */
  disconnect() {
    for (const [event, listener] of Object.entries(this.listeners ?? {})) this.provider?.removeListener?.(event, listener);
    this.listeners = null;
    this.provider = this.account = this.chainId = null;
  }

  request(method, ...params) {
    return this.provider.request({method, params});
  }

  /** Read the account and the chain again, since not every wallet announces a change. */
  async refresh() {
    const [[account], chainId] = await Promise.all([this.request("eth_accounts"), this.request("eth_chainId")]);
    if (isSame(account, this.account) && Number(chainId) === this.chainId) return;
    Object.assign(this, {account: account ?? null, chainId: Number(chainId)});
    if (!account) this.disconnect();
    this.onChange();
  }

  async switchTo(chainId) {
    await this.request("wallet_switchEthereumChain", {chainId: toHex(chainId)});
    await this.refresh();
  }

  async call(to, data) {
    return BigInt(await this.request("eth_call", {to, data}, "latest"));
  }

  async balance(token) {
    if (isNativeToken(token)) return BigInt(await this.request("eth_getBalance", this.account, "latest"));
    return this.call(token.address, "0x70a08231" + pad(this.account));
  }

  /** Return how much of a token a spender may take of the account. */
  allowance(token, spender) {
    return this.call(token.address, "0xdd62ed3e" + pad(this.account) + pad(spender));
  }

  /** Return the most of a token that the account can sell: of the native token, gas is kept for `gasUnits`. */
  async sellable(token, gasUnits) {
    const balance = await this.balance(token);
    if (!isNativeToken(token)) return balance;
    const gas = GAS_MARGIN * BigInt(gasUnits ?? DEFAULT_SWAP_GAS) * BigInt(await this.request("eth_gasPrice"));
    return balance > gas ? balance - gas : 0n;
  }

  /** Have the wallet show a transaction to its user; return the hash if the user sends it. */
  async send({to, data, value = "0"}) {
    const hash = await this.request("eth_sendTransaction", {from: this.account, to, data, value: toHex(value), chainId: toHex(this.chainId)});
    if (!/^0x[0-9a-fA-F]{64}$/.test(hash ?? "")) throw new Error("the wallet returned no transaction hash");
    return hash;
  }

  /** Return the receipt of a transaction; null if it is not mined in time. */
  async receipt(hash) {
    const provider = this.provider, endMs = performance.now() + RECEIPT_TIMEOUT_MS;
    while (performance.now() < endMs) {
      const receipt = await provider.request({method: "eth_getTransactionReceipt", params: [hash]}).catch(() => null);
      if (receipt?.blockNumber) return receipt;
      await new Promise(resolve => setTimeout(resolve, RECEIPT_INTERVAL_MS));
    }
    return null;
  }
}

/** Return how much of a token an account received, by the events of a receipt; null for the native token, which has none. */
function receivedAmount(receipt, token, account) {
  if (isNativeToken(token)) return null;
  let sum = 0n;
  for (const {address, topics, data} of receipt.logs ?? []) {
    if (!isSame(address, token.address) || topics[0] !== TRANSFER_TOPIC || topics.length !== 3) continue;
    const [from, to] = topics.slice(1).map(topic => "0x" + topic.slice(-40));
    if (isSame(to, account)) sum += BigInt(data);
    if (isSame(from, account)) sum -= BigInt(data);
  }
  return sum;
}

/** Return what a wallet's error means as one sentence. */
function walletProblem(error) {
  if (error?.code === 4001) return "You rejected the request in your wallet. Nothing was sent.";
  if (error?.code === -32002) return "Your wallet is already showing a request. Open the wallet to confirm or reject it.";
  if (error?.code === 4902) return "Your wallet does not know this network. Add it in the wallet first.";
  const message = printable(String(error?.message ?? "no reason given").slice(0, MAX_WALLET_TEXT));
  return `The wallet failed: ${message.replace(/[.\s]*$/, "")}.`;
}
