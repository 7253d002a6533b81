// Checks of the HTML pages in one Chromium. Prints a line {"check", "failure"} for each of them.

import assert from "node:assert/strict";
import {readFileSync} from "node:fs";
import {createRequire} from "node:module";

const require = createRequire(new URL("../../contracts/package.json", import.meta.url));
const {chromium} = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

const {browser, profile, url, modelledUrl, hostileUrl, judged, keyed, live, refused, isFull, orders} = JSON.parse(process.argv[2]);
const visitorsUrl = modelledUrl.replace("127.0.0.1", "visitor.localhost");  // a browser resolves it to this machine
const NATIVE = "0x0000000000000000000000000000000000000000", USDC = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913";
const WETH = "0x4200000000000000000000000000000000000006";
const RECIPIENT = "0x1111111111111111111111111111111111111111", KEY = "no-such-key-7f3a";
const STARKNET_RECIPIENT = `0x0${"12".repeat(31)}1`;
const WIDTHS = isFull ? [320, 390, 768, 1280] : [320];
const MIN_PICTURE_PX = 320;  // a picture is not drawn narrower
const MIN_FIELD_PX = 200, MIN_HEIGHT_PX = 24;  // 24 px: target size of WCAG 2.2 AA
const TIMEOUT_MS = isFull ? 240_000 : 110_000, ACTION_TIMEOUT_MS = 10_000;
const ORDER = `/?network=base&in=${NATIVE}&out=${USDC}&amount=25&slippage=0.5`;

const checks = [];
/** A check of the quick form, which every run of the tests has. */
const quickCheck = (name, run) => checks.push([name, run]);
const check = (name, run) => isFull && checks.push([name, run]);

// Playwright ends the browser on exit, but not when this process is killed.
setTimeout(() => process.exit(3), TIMEOUT_MS).unref();
const context = await chromium.launchPersistentContext(profile, {
  executablePath: browser, headless: true, timeout: 60_000,
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync"],
});
context.setDefaultTimeout(ACTION_TIMEOUT_MS);
const requests = [], problems = [];
context.on("request", request => requests.push(request.url()));
let page = await openPage();

/** Open a page whose errors are collected. */
async function openPage() {
  const opened = await context.newPage();
  opened.on("pageerror", error => problems.push(String(error)));
  opened.on("dialog", dialog => { problems.push("dialog: " + dialog.message()); dialog.dismiss(); });
  opened.on("console", message => {
    if (message.type() === "error" && !message.text().startsWith("Failed to load resource")) problems.push(message.text());
  });
  return opened;
}

/** Put a wallet into a page, as an extension does. It forwards each request to `walletRequest`. */
function injectWallet(name) {
  const listeners = {};
  window.testWallet = {
    async request({method, params = []}) {
      const {result, error} = await window.walletRequest(method, params);
      if (error) throw Object.assign(new Error(error.message), {code: error.code});
      return result;
    },
    on(event, listener) { listeners[event] = listener; },
    removeListener(event) { delete listeners[event]; },
    emit(event, value) { listeners[event]?.(value); },
  };
  const announce = () => dispatchEvent(new CustomEvent("eip6963:announceProvider", {detail: {info: {uuid: "1", name}, provider: window.testWallet}}));
  addEventListener("eip6963:requestProvider", announce);
}

/** Run a check on a page with a wallet. `respond` returns the result of a request, or throws an error with a code. */
async function withWallet(name, respond, run) {
  const before = page, asked = [];
  page = await openPage();
  try {
    await page.addInitScript(injectWallet, name);
    await page.exposeFunction("walletRequest", async (method, params) => {
      asked.push([method, params]);
      try {
        return {result: await respond(method, params)};
      } catch (error) {
        return {error: {code: error.code ?? -32603, message: error.message}};
      }
    });
    await run(asked);
  } finally {
    await context.setOffline(false);
    await page.close();
    page = before;
  }
}

/** A wallet on base with USDC, whose chain is only what this object has. */
class FakeWallet {
  account = "0x" + "ab".repeat(20);
  chainId = 8453;
  balance = 10_000n * 10n ** 6n;
  allowance = 0n;
  sent = [];
  confirm = async () => {};  // what its user does with a transaction

  async respond(method, [first]) {
    const word = number => "0x" + number.toString(16).padStart(64, "0");
    switch (method) {
      case "eth_requestAccounts": case "eth_accounts": return [this.account];
      case "eth_chainId": return "0x" + this.chainId.toString(16);
      case "wallet_switchEthereumChain": this.chainId = Number(first.chainId); return null;
      case "eth_getBalance": return "0x" + (5n * 10n ** 18n).toString(16);
      case "eth_gasPrice": return "0x" + (10n ** 9n).toString(16);
      case "eth_call": return word(first.data.startsWith("0x70a08231") ? this.balance : this.allowance);
      case "eth_sendTransaction":
        await this.confirm();
        this.sent.push(first);
        if (first.data.startsWith("0x095ea7b3")) this.allowance = BigInt("0x" + first.data.slice(-64));
        return word(BigInt(this.sent.length));
      case "eth_getTransactionReceipt": return {blockNumber: "0x10", status: "0x1", logs: []};
      default: throw new Error(`no method ${method}`);
    }
  }
}

const SALE = `/?network=base&in=${USDC}&out=${NATIVE}&amount=2500&slippage=0.5`;
const rejection = () => Promise.reject(Object.assign(new Error("User rejected the request."), {code: 4001}));
const step = name => page.locator("#steps").getByRole("button", {name});
const stepsSay = text => page.locator("#steps").filter({hasText: text}).waitFor();

const setView = (width, colorScheme = "light") =>
  Promise.all([page.setViewportSize({width, height: 844}), page.emulateMedia({colorScheme})]);

/** Open the page of a quote and wait for its picture. */
async function openQuote(address = url + ORDER, timeout = ACTION_TIMEOUT_MS) {
  await page.goto("about:blank");
  await page.goto(address);
  await page.locator("#picture img").waitFor({timeout});
  await waitForPicture("#picture img");
}

async function waitForPicture(selector) {
  await page.locator(selector).waitFor();
  await page.waitForFunction(each => document.querySelector(each)?.naturalWidth > 0, selector);
}

async function openDocs() {
  await page.goto(url + "/docs");
  await page.locator("#route").waitFor();
}

/** Open all operations of the documentation, which are folded at first. */
const unfold = () => page.locator(".fold").evaluateAll(nodes => nodes.forEach(node => { node.open = true; }));

/** Return what is wrong with the layout: overflow, and fields that are narrow or low. */
function misfits([minWidth, minHeight]) {
  const width = document.documentElement.clientWidth, found = [];
  if (document.documentElement.scrollWidth > width) found.push(`the page scrolls to ${document.documentElement.scrollWidth} px`);
  for (const node of document.querySelectorAll("main *, header *, nav *")) {
    const box = node.getBoundingClientRect();
    if (!box.width || !node.checkVisibility()) continue;
    const name = `${node.tagName} ${node.id || node.className || node.textContent.slice(0, 30)}`;
    if (box.right > width + 1 && box.height > 2) found.push(`${name} ends at ${box.right}`);
    const isField = node.matches("input:not([type=checkbox]), select, textarea");
    if (isField && box.width < minWidth) found.push(`${name} is ${box.width} px wide`);
    if ((isField || node.matches("button")) && box.height < minHeight) found.push(`${name} is ${box.height} px high`);
  }
  return found;
}

/** Return the violations that axe finds, one line each. */
async function violations(options = {}) {
  await page.evaluate(axe);
  const {violations: found} = await page.evaluate(each => axe.run(document, each), {resultTypes: ["violations"], ...options});
  return found.flatMap(rule => rule.nodes.map(node => `${rule.id}: ${node.target} ${node.failureSummary}`)).slice(0, 20);
}

/** Return the violations of contrast in dark mode. */
async function darkViolations() {
  await setView(1280, "dark");
  return violations({runOnly: ["color-contrast"]});
}

const received = async () => (await page.locator("#received").innerText()).replace(/\s+/g, " ");
const paid = text => page.locator("#received-label", {hasText: text}).waitFor();
/** Have the page build the transaction of its quote. */
const review = () => page.getByRole("button", {name: "Review transaction"}).click();
/** Open the fields of the transaction, and return one of them. */
async function field(name) {
  await page.locator("#fields").evaluate(node => { node.open = true; });
  return page.locator("#payload-" + name).inputValue();
}

const digits = text => text.replace(/\D/g, "");

/** Return an amount in whole tokens, rounded down to six digits, from one token on with two decimals. */
function rounded(units, decimals) {
  const magnitude = String(units).length - 1 - decimals, places = Math.min(decimals, Math.max(2, 5 - magnitude));
  const step = 10n ** BigInt(decimals - places), text = String(BigInt(units) / step).padStart(places + 1, "0");
  return `${Number(text.slice(0, -places)).toLocaleString("en-US")}.${text.slice(-places)}`;
}

quickCheck("the quote page fits every width", async () => {
  for (const width of WIDTHS) {
    await setView(width);
    await openQuote();
    await page.locator("#more summary").click();
    for (const summary of await page.locator("#quote details summary").all()) await summary.click();
    assert.deepEqual(await page.evaluate(misfits, [MIN_FIELD_PX, MIN_HEIGHT_PX]), [], `at ${width} px`);
    const [shown, natural] = await page.locator("#picture img").evaluate(image => [image.clientWidth, image.naturalWidth]);
    assert.ok(natural === MIN_PICTURE_PX || Math.abs(natural / shown - 1) < 0.1, `the picture for ${natural} px is ${shown} px wide`);
  }
});

check("the documentation fits every width", async () => {
  await openDocs();
  await page.locator("nav details").evaluate(node => { node.open = true; });
  await unfold();
  for (const width of WIDTHS) {
    await setView(width);
    assert.deepEqual(await page.evaluate(misfits, [MIN_FIELD_PX, MIN_HEIGHT_PX]), [], `at ${width} px`);
  }
  assert.equal((await page.locator("body").innerText()).includes("`"), false);
  assert.doesNotMatch(await page.locator("body").innerText(), /\^\(?\[|like \^/, "patterns are for programs");
});

quickCheck("an order is quoted, drawn and built", async () => {
  await setView(390);
  await page.goto(url + "/");
  await page.locator("#in-note").filter({hasText: "native token"}).waitFor();
  const response = page.waitForResponse(each => each.url().includes("/base/route?amount=1250500000000000000000"));
  await page.locator("#amount").fill("1,250.5");
  await page.locator("#out").fill("usdc");
  await page.locator("#out-list [role=option]").first().click();
  await page.locator("#ask").click();
  const answer = await response, route = await answer.json();
  await paid("1,250.5 ETH on base");
  assert.equal(new URL(answer.url()).searchParams.get("amount"), "1250500000000000000000");
  await waitForPicture("#picture img");
  assert.ok((await received()).startsWith(`${rounded(route.outputAmount, 6)} USDC`), await received());
  const facts = await page.locator("#facts").innerText();
  assert.ok(facts.includes(`at least ${rounded(route.minReceived, 6)}`), facts);
  for (const name of ["slippage", "1 ETH = ", "impact", "gas $", "single path"]) assert.ok(facts.includes(name), name);
  await page.getByText("Exact figures").click();
  const figures = await page.locator("#figures").innerText();
  assert.ok(figures.replace(/\D/g, "").includes(BigInt(route.outputAmount) % 10n ? route.outputAmount : route.outputAmount.replace(/0+$/, "")));
  for (const name of ["At least", "After gas", "Single path", "Use before"]) assert.ok(figures.includes(name), name);
  await page.locator("#recipient").fill(RECIPIENT);
  await review();
  await page.locator("#decoded").waitFor();
  const decoded = await page.locator("#decoded").innerText();
  assert.match(decoded, /Sells\s+1,250\.5 ETH/);
  assert.ok(decoded.includes(RECIPIENT));
  assert.match(await page.locator("#life").innerText(), /^Use within (60|[45]\d) s$/);
  assert.match(await field("to"), /^0x[0-9a-fA-F]{40}$/);
  assert.equal(await field("value-in-wei"), "1250500000000000000000");
  assert.match(await field("calldata"), /^0x[0-9a-f]{200,}$/);
  assert.equal(page.url().includes(RECIPIENT), false);
});

check("a recipient that loses the output is refused or warned of", async () => {
  await openQuote(url + ORDER);
  const build = async recipient => {
    await page.locator("#recipient").fill(recipient);
    await review();
  };
  await build("0xca11bde05977b3631167028862be2a173976ca11");
  await page.getByText("is the multicall contract: the output would be lost").waitFor();
  await setView(390);
  assert.deepEqual(await page.evaluate(misfits, [MIN_FIELD_PX, MIN_HEIGHT_PX]), []);
  assert.equal(await page.locator("#decoded").count(), 0);
  await build("0x000000000000000000000000000000000000dEaD");
  await page.getByText("the output would be burned").waitFor();
  await page.locator("#decoded").waitFor();
});

check("a high slippage needs a tick, and basis points are read", async () => {
  await openQuote(url + ORDER.replace("slippage=0.5", "slippage=30"));
  assert.match(await page.getByRole("list", {name: "Warnings"}).innerText(), /slippage of 30%/);
  await page.locator("#recipient").fill(RECIPIENT);
  await review();
  await page.getByText("write 30bps").waitFor();
  assert.equal(await page.locator("#decoded").count(), 0);
  await page.getByLabel("Accept up to 30% less than the quote").check();
  await review();
  await page.locator("#decoded").waitFor();
  await page.locator("#slippage").fill("30bps");
  await page.locator("#ask").click();
  await page.locator("#facts").filter({hasText: "0.3% slippage"}).waitFor();
  assert.equal(await page.locator("#consents input").count(), 0);
});

check("a transaction has the verdict of a node", async () => {
  const build = async network => {
    await openQuote(`${judged.url}/?network=${network}&in=${NATIVE}&out=${judged.dollar}&amount=1&slippage=0.5`);
    await page.locator("#recipient").fill(RECIPIENT);
    await review();
  };
  await build("plain");
  await page.getByText("A node simulated this swap").waitFor();
  await page.locator("#decoded").waitFor();
  await build("priced");
  await page.getByRole("list", {name: "Reasons"}).filter({hasText: "below a price outside its route: price feeds"}).waitFor();
  await page.locator("#decoded").waitFor();
  await build("lost");
  await page.getByText("Do not sign this transaction.").waitFor();
  assert.match(await page.getByRole("list", {name: "Reasons"}).innerText(), /^There is no contract at the router's address 0x\w+\. \S.*\.$/m);
  assert.equal(await page.locator("#decoded").count(), 0);
  await setView(390, "light");
  assert.deepEqual(await violations(), []);
  assert.deepEqual(await page.evaluate(misfits, [MIN_FIELD_PX, MIN_HEIGHT_PX]), []);
  await page.getByLabel("Show it anyway").check();
  await page.locator("#decoded").waitFor();
  await page.getByLabel("Show it anyway").uncheck();
  assert.equal(await page.locator("#decoded").count(), 0);
  await openQuote();
  await page.locator("#recipient").fill(RECIPIENT);
  await review();
  await page.getByText("No node has checked this transaction.").waitFor();
  await page.locator("#decoded").waitFor();
});

quickCheck("the default order is quoted at once and refreshed", async () => {
  await page.clock.install();
  try {
    await page.goto(url + "/");
    await waitForPicture("#picture img");
    assert.match(await page.locator("#value").innerText(), /^about \$3,1\d\d\.\d\d$/);
    assert.match(await page.locator("#facts").innerText(), /^about \$3,1\d\d\.\d\d/);
    await page.locator("#recipient").fill(RECIPIENT);
    const again = page.waitForResponse(each => each.url().includes("/base/route?"));
    await page.clock.runFor(5000);
    assert.match(await page.locator("#countdown").innerText(), /^New quote in 1[3-7] s$/);
    await page.clock.runFor(16_000);
    assert.ok((await again).ok());
    await page.locator("#countdown").filter({hasText: /New quote in (19|20) s/}).waitFor();
    assert.equal(await page.locator("#recipient").inputValue(), RECIPIENT);
    await page.getByRole("button", {name: "Pause"}).click();
    const before = requests.length;
    await page.clock.runFor(60_000);
    assert.equal(requests.length, before);
    await page.getByRole("button", {name: "Refresh"}).click();
    await page.locator("#countdown").filter({hasText: /New quote in/}).waitFor();
    await review();
    await page.locator("#decoded").waitFor();
    assert.match(await page.locator("#countdown").innerText(), /^Paused for the transaction below/);
    await page.clock.runFor(61_000);
    await page.locator("#steps").filter({hasText: "This quote has expired."}).waitFor();
    assert.equal(await page.locator("#life").innerText(), "");
    await page.getByRole("button", {name: "Get new quote"}).click();
    await page.locator("#countdown").filter({hasText: /New quote in/}).waitFor();
    assert.equal(await page.locator("#decoded").count(), 0);
  } finally {
    await page.clock.resume();
  }
});

quickCheck("prices that are not real give guidance instead of a transaction", async () => {
  await setView(320, "dark");
  await openQuote(modelledUrl + ORDER);
  const [shown, muted] = await page.locator("#received, #received .unit").evaluateAll(nodes => nodes.map(node => getComputedStyle(node).color));
  assert.equal(shown, muted, "a modelled amount is grey");
  assert.equal((await page.locator("#quote").innerText()).match(/modelled/g).length, 1);
  await page.locator("#swap").filter({hasText: "There is no transaction to sign"}).waitFor();
  assert.equal(await page.locator("#payload-command").inputValue(), "SWAPCLI_NETWORKS_BASE_RPC_URL=URL swapcli serve");
  assert.equal(await page.locator("#recipient, #review").count(), 0);
  assert.deepEqual(await page.evaluate(misfits, [MIN_FIELD_PX, MIN_HEIGHT_PX]), []);
});

quickCheck("a visitor without real prices gets no command of the operator", async () => {
  await openQuote(visitorsUrl + ORDER);
  const shown = await page.locator("#swap").filter({hasText: "There is no transaction to sign"}).innerText();
  assert.match(shown, /no live prices for base now: choose a different network, or quote again later\.$/);
  assert.equal(await page.locator("#payload-command").count(), 0);
  assert.doesNotMatch(await page.locator("body").innerText(), /swapcli serve/);
});

quickCheck("a quote of a chain follows its blocks, and the clock without a stream", async () => {
  const order = `/?network=testnet&in=${NATIVE}&out=${live.dollar}&amount=1&slippage=0.5`;
  await openQuote(live.url + order);
  await page.locator("#countdown").filter({hasText: "Live: a new quote at every block"}).waitFor();
  for (let change = 0; change < 3; change++) {
    const before = await received();
    await page.waitForFunction(each => document.querySelector(".received").innerText !== each, before);
  }
  const streams = requests.filter(each => each.includes("/v2/route/events")).length;
  await page.getByRole("button", {name: "Pause"}).click();
  const paused = await received();
  await page.waitForTimeout(1500);
  assert.equal(await received(), paused);
  await page.getByRole("button", {name: "Refresh"}).click();
  await page.locator("#countdown").filter({hasText: "Live: a new quote at every block"}).waitFor();
  assert.equal(requests.filter(each => each.includes("/v2/route/events")).length, streams + 1);
  await openQuote(refused.url + order);
  await page.locator("#countdown").filter({hasText: /New quote in/}).waitFor();
});

quickCheck("amounts are read as the command reads them", async () => {
  await openQuote();
  const ask = async amount => {
    await page.locator("#amount").fill(amount);
    await page.locator("#ask").click();
  };
  await page.locator("#amount").fill("2.5k");
  assert.match(await page.locator("#value").innerText(), /^2,500 ETH, about \$7,/);
  await ask("$1000");
  await paid(orders.dollars);
  await ask("50%");
  await page.getByText("connect a wallet and choose Max").waitFor();
  assert.equal(await page.locator("#amount").getAttribute("aria-invalid"), "true");
});

check("a slippage can be chosen, and the advised one has its reasons", async () => {
  await openQuote();
  const chosen = () => page.locator("#presets [aria-pressed=true]").allInnerTexts();
  assert.deepEqual(await chosen(), ["0.5"]);
  await page.getByRole("button", {name: "1", exact: true}).click();
  await page.locator("#facts").filter({hasText: "1% slippage"}).waitFor();
  assert.deepEqual(await chosen(), ["1"]);
  await page.getByRole("button", {name: "Advised"}).click();
  await page.locator("#slippage-note").filter({hasText: /^0\.\d+% is advised\. \S/}).waitFor();
  await page.locator("#facts").filter({hasText: await page.locator("#slippage").inputValue() + "% slippage"}).waitFor();
  await openQuote(modelledUrl + ORDER);
  await page.getByRole("button", {name: "Advised"}).click();
  await page.locator("#slippage-note").filter({hasText: "There is no advice for this order"}).waitFor();
});

quickCheck("a quote is that of the command, and its cast command", async () => {
  await openQuote(`${url}/?network=base&in=${USDC}&out=${WETH}&amount=5000000&slippage=0.5`);
  assert.ok((await received()).startsWith(`${rounded(orders.received, 18)} WETH`), await received());
  await page.locator("#recipient").fill(RECIPIENT);
  await review();
  await page.locator("#decoded").waitFor();
  assert.equal(await field("commands-for-cast"), orders.cast);
});

check("a high price impact needs a tick", async () => {
  await openQuote(`${url}/?network=base&in=${NATIVE}&out=${USDC}&amount=10m&slippage=0.5`, 4 * ACTION_TIMEOUT_MS);
  await page.locator("#recipient").fill(RECIPIENT);
  await review();
  await page.getByText(/price impact of [\d.]+% is above the limit of 15%/).waitFor();
  assert.equal(await page.locator("#decoded").count(), 0);
  await page.locator("#consent-impact").check();
  await review();
  await page.locator("#decoded").waitFor();
});

quickCheck("a wallet approves and swaps in two steps", async () => {
  const fake = new FakeWallet();
  await withWallet("Wallet <b>\u202eX</b>", fake.respond.bind(fake), async () => {
    await setView(320, "dark");
    await openQuote(url + SALE);
    assert.equal(await page.locator("#wallet button").innerText(), "Connect Wallet <b>?X</b>");
    await page.locator("#wallet button").focus();
    await page.keyboard.press("Enter");
    await page.locator("#balance").filter({hasText: "Balance 10,000 USDC"}).waitFor();
    assert.equal(await page.locator("#recipient").inputValue(), fake.account);
    await page.getByRole("button", {name: "Max: the whole balance of USDC"}).click();
    assert.equal(await page.locator("#amount").inputValue(), "10000");
    await page.locator("#amount").fill("2500");
    await page.locator("#recipient").press("Enter");
    await step("Approve 2,500 USDC in wallet").waitFor();
    assert.ok(await step("Swap in wallet").isDisabled());
    assert.deepEqual(await violations(), []);
    assert.deepEqual(await page.evaluate(misfits, [MIN_FIELD_PX, MIN_HEIGHT_PX]), []);
    await step("Approve").press("Enter");
    await step("Swap in wallet").and(page.locator(":enabled")).waitFor();
    assert.equal(await page.evaluate(() => document.activeElement.textContent), "Swap in wallet", "the focus follows the steps");
    await step("Swap in wallet").press("Enter");
    await page.locator("#sent-list").filter({hasText: /Approval sent: .*Confirmed in block 16\..*Swap sent: .*Confirmed in block 16\./s}).waitFor();
    const [approval, swap] = fake.sent;
    assert.deepEqual([approval.to, approval.value, BigInt("0x" + approval.data.slice(-64))], [USDC, "0x0", 2500n * 10n ** 6n]);
    assert.deepEqual([swap.to, swap.data, swap.from, swap.chainId], [await field("to"), await field("calldata"), fake.account, "0x2105"]);
    assert.equal(approval.data.slice(34, 74), swap.to.slice(2).toLowerCase(), "the router is approved");
  });
});

quickCheck("nothing that a wallet does makes the page lie", async () => {
  const fake = new FakeWallet();
  fake.chainId = 1;
  fake.allowance = 10n ** 30n;
  await withWallet("", fake.respond.bind(fake), async asked => {
    await page.clock.install();
    await openQuote(url + SALE);
    await page.locator("#wallet button").click();
    await page.locator("#balance").filter({hasText: "Your wallet is on a different network."}).waitFor();
    await review();
    await stepsSay("Your wallet is on a different network.");
    await step("Switch wallet to base").click();
    await step("Swap in wallet").waitFor();
    fake.confirm = rejection;
    await step("Swap in wallet").click();
    await stepsSay("You rejected the request in your wallet. Nothing was sent.");
    fake.chainId = 10;  // without an event
    await step("Swap in wallet").click();
    await stepsSay("Your wallet is on a different network.");
    fake.chainId = 8453;
    await page.evaluate(() => window.testWallet.emit("chainChanged", "0x2105"));
    await step("Swap in wallet").waitFor();
    const first = fake.account;
    fake.account = "0x" + "cd".repeat(20);
    await page.evaluate(account => window.testWallet.emit("accountsChanged", [account]), fake.account);
    await stepsSay("The account in your wallet is not the one in this transaction.");
    assert.equal(await page.locator("#recipient").inputValue(), fake.account);
    fake.balance = 1n;
    await step("Review again").click();
    await stepsSay("Your wallet holds only 0.000001 USDC.");
    assert.notEqual(first, fake.account);
    fake.balance = 10n ** 12n;
    let send;
    fake.confirm = () => new Promise(resolve => { send = resolve; });
    await review();
    await step("Swap in wallet").click();
    await stepsSay("Confirm in your wallet.");
    await page.clock.runFor(61_000);
    await stepsSay("The quote has expired. Reject the request in your wallet.");
    assert.equal(await step("Swap in wallet").count(), 0);
    send();
    await page.clock.runFor(2_000);
    await page.locator("#sent-list").filter({hasText: /The quote had expired. The swap pays at least [\d.]+ ETH, or reverts\./}).waitFor();
    assert.deepEqual(asked.filter(([method]) => method === "eth_sendTransaction").length, 2);
    await Promise.all([page.waitForResponse(each => each.url().includes("/route.svg")), page.locator("#ask").click()]);
    await page.locator("#sent-list").filter({hasText: "Swap sent"}).waitFor();
    await context.setOffline(true);
    await review();
    await page.locator("#built").filter({hasText: "The service is not responding."}).waitFor();
    assert.equal(await page.locator("#decoded").count(), 0);
    await page.getByRole("button", {name: "Disconnect"}).click();
    assert.equal(await page.locator("#balance").innerText(), "");
  });
});

check("a swap through a wallet receives what was quoted", async () => {
  const rpc = async (method, params) => {
    const response = await fetch(judged.node, {method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify({jsonrpc: "2.0", id: 1, method, params})});
    const {result, error} = await response.json();
    if (error) throw Object.assign(new Error(error.message), error);
    return result;
  };
  const respond = (method, params) => ["eth_requestAccounts", "eth_accounts"].includes(method) ? [judged.user] : rpc(method, params);
  const held = async () => BigInt(await rpc("eth_call", [{to: judged.bought, data: "0x70a08231" + judged.user.slice(2).padStart(64, "0")}, "latest"]));
  await withWallet("Local", respond, async () => {
    const response = page.waitForResponse(each => each.url().includes("/plain/route?"));
    await openQuote(`${judged.url}/?network=plain&in=${judged.dollar}&out=${judged.bought}&amount=1234.5&slippage=0.5`);
    const route = await (await response).json(), before = await held();
    await page.locator("#wallet button").click();
    await page.getByRole("button", {name: "Pause"}).click();
    await review();
    await step("Approve 1,234.5").click();
    await step("Swap in wallet").and(page.locator(":enabled")).click();
    await page.locator("#sent-list").filter({hasText: /Swap sent: .*Confirmed in block [\d,]+: received/s}).waitFor();
    assert.equal(await held() - before, BigInt(route.outputAmount));
    const shown = /received ([\d.,]+) /.exec(await page.locator("#sent-list").innerText())[1];
    assert.ok(BigInt(digits(shown)) > 0n && route.outputAmount.startsWith(digits(shown).replace(/^0+/, "").slice(0, 6)));
  });
});

check("every network has a quote and a transaction", async () => {
  for (const network of ["citrea", "hyperevm", "monad", "starknet"]) {
    await page.goto(`${url}/?network=${network}`);
    await page.locator("#in-note").filter({hasText: /native token|0x/}).waitFor();
    await page.locator("#amount").fill("0.25");
    await page.locator("#ask").click();
    await paid("0.25 ");
    await waitForPicture("#picture img");
    await page.locator("#recipient").fill(network === "starknet" ? STARKNET_RECIPIENT : RECIPIENT);
    await review();
    await page.locator("#decoded").waitFor();
    assert.ok((await field(network === "starknet" ? "calldata-felts-" : "calldata")).length > 100);
  }
});

check("a link reproduces a quote, and Back the one before", async () => {
  await openQuote();
  const first = await received(), link = page.url();
  await page.locator("#amount").fill("7");
  await page.keyboard.press("Enter");
  await paid("7 ETH");
  assert.notEqual(await received(), first);
  assert.equal(new URL(page.url()).searchParams.get("amount"), "7");
  await page.goBack();
  await paid("25 ETH");
  assert.equal(await received(), first);
  await openQuote(link);
  assert.equal(await received(), first);
  assert.equal(page.url(), link);
});

quickCheck("the quote page is usable by keyboard alone", async () => {
  await page.goto(url + "/");
  await page.locator("#in-note").filter({hasText: "native token"}).waitFor();
  const focus = () => page.evaluate(() => document.activeElement.id);
  const tabTo = async id => {
    for (let tabs = 0; tabs < 20 && await focus() !== id; tabs++) await page.keyboard.press("Tab");
    assert.equal(await focus(), id);
  };
  await tabTo("amount");
  await page.keyboard.type("2");
  await page.keyboard.press("Control+A");
  await page.keyboard.type("3");
  await tabTo("out");
  await page.keyboard.type("cb");
  await page.keyboard.press("ArrowDown");
  const active = await page.locator("#out").getAttribute("aria-activedescendant");
  assert.match(await page.locator("#" + active).innerText(), /cb/i);
  await page.keyboard.press("Enter");
  assert.equal(await page.locator("#out").getAttribute("aria-expanded"), "false");
  await page.keyboard.press("Enter");
  await paid("3 ETH on base");
  await tabTo("recipient");
  await page.keyboard.type(RECIPIENT);
  await page.keyboard.press("Enter");
  await page.locator("#decoded").waitFor();
});

check("buttons copy, also without HTTPS", async () => {
  await context.grantPermissions(["clipboard-write"], {origin: url});
  await openQuote();
  const paste = async () => {
    await page.locator("#amount").fill("");
    await page.keyboard.press("Control+V");
    return page.locator("#amount").inputValue();
  };
  await page.getByRole("button", {name: "Copy link"}).click();
  await page.getByRole("button", {name: "Copied"}).waitFor();
  assert.equal(await paste(), url + ORDER);
  await page.evaluate(() => Object.defineProperty(navigator, "clipboard", {value: undefined}));
  await page.getByRole("button", {name: "Copy JSON"}).click();
  await page.getByRole("button", {name: "Copied"}).nth(1).waitFor();
  assert.match(await paste(), /^\{ +"success": true,/);
});

check("mistakes are answered with a sentence", async () => {
  await openQuote();
  const says = async (pattern) => {
    await page.locator("#error").filter({hasText: pattern}).waitFor();
    await page.locator("#quote").waitFor({state: "hidden"});
  };
  for (const [amount, pattern] of [["1.5.2", /decimal number/], ["0", /greater than zero/], ["1.0000000000000000001", /18 decimals/]]) {
    await page.locator("#amount").fill(amount);
    await page.keyboard.press("Enter");
    await says(pattern);
    assert.equal(await page.locator("#amount").getAttribute("aria-invalid"), "true");
  }
  await page.locator("#amount").fill("1");
  await page.locator("#out").fill("no such token");
  await page.locator("#ask").click();
  await says(/No token has this name/);
  await page.locator("#out").fill("USDC");
  await page.locator("#slippage").fill("0.01");
  await page.locator("#ask").click();
  await says(/slippage/i);
  await page.goto(`${url}/?network=nowhere&amount=1`);
  await says(/no network nowhere/);
  await page.goto(url + "/");
  await page.locator("#in-note").filter({hasText: "native token"}).waitFor();
  await context.setOffline(true);
  await page.locator("#ask").click();
  await says(/is not responding/).finally(() => context.setOffline(false));
});

check("a service that requires a key is used as soon as the page has it", async () => {
  await page.goto(keyed.url + "/");
  await page.locator("#error").filter({hasText: "This service requires an API key."}).waitFor();
  await page.locator("#key").fill(keyed.key);
  await page.locator("#key").press("Tab");
  await page.locator(".received").waitFor();
  assert.equal(await page.locator("#error").innerText(), "");
});

check("an API key stays in the memory of the page", async () => {
  await page.goto(url + ORDER);
  await page.locator(".received").waitFor();
  await page.locator("#more summary").click();
  await page.locator("#key").fill(KEY);
  const request = page.waitForRequest(each => each.url().includes("/base/route?"));
  await page.locator("#ask").click();
  assert.equal((await request).headers()["x-api-key"], KEY);
  await page.locator("#error").filter({hasText: /key is unknown/}).waitFor();
  assert.equal(page.url().includes(KEY), false);
  assert.equal(await page.evaluate(() => JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie])), '[{},{},""]');
  await page.reload();
  await page.locator(".received").waitFor();
  assert.equal(await page.locator("#key").inputValue(), "");
  assert.equal(requests.some(each => each.includes(KEY)), false);
});

check("the documentation sends an order and draws its route", async () => {
  await setView(390);
  await openDocs();
  assert.equal(await page.locator(".fold[open]").count(), 0);
  const titles = await page.locator("h3").allInnerTexts();
  assert.deepEqual(titles.filter(title => title.includes("/v2/")), ["GET /{network}/v2/route/events"], "the first generation has no stream");
  assert.equal(new Set(titles.map(title => title.replace(/\/[^/]+\/(v2\/)?/, "/"))).size, titles.length);
  await page.getByText("Operations", {exact: true}).click();
  await page.locator('nav a[href="#route"]').click();
  await page.locator("#route-variant").selectOption({label: "/{network}/v2/route"});
  await page.getByRole("button", {name: "Send: GET /{network}/v2/route", exact: true}).waitFor();
  await page.goto(url + "/docs#calldataV2");
  await page.getByRole("button", {name: "Send: POST /{network}/v2/calldata", exact: true}).waitFor();
  await page.goto(url + "/docs#route");
  await page.getByRole("button", {name: "Send: GET /{network}/route", exact: true}).click();
  await waitForPicture("#route figure img");
  assert.match(await page.locator("#route .summary").innerText(), /^1 ETH → [\d,.]+ USDC: \d+ paths? through \d+ pools?$/);
  assert.match(await page.locator("#route pre").first().innerText(), /"outputAmount"/);
  await page.locator("#calldata-variant").selectOption("calldata");
  await page.getByRole("button", {name: "Send: POST /{network}/calldata", exact: true}).click();
  await waitForPicture("#calldata figure img");
  assert.deepEqual(await page.evaluate(misfits, [MIN_FIELD_PX, MIN_HEIGHT_PX]), []);
});

check("the documentation has no accessibility violations", async () => {
  await openDocs();
  assert.deepEqual(await violations({rules: {"color-contrast": {enabled: false}}}), [], "folded");
  await unfold();
  await page.getByRole("button", {name: "Send: GET /{network}/route", exact: true}).click();
  await waitForPicture("#route figure img");
  await setView(390, "light");
  assert.deepEqual(await violations({rules: {"color-contrast": {enabled: false}}}), []);
  // Contrast is the slowest rule, and later operations repeat the first.
  await page.evaluate(() => document.querySelectorAll(".operation:nth-of-type(n+9)").forEach(node => node.remove()));
  assert.deepEqual(await violations({runOnly: ["color-contrast"]}), []);
  assert.deepEqual(await darkViolations(), [], "in dark mode");
});

check("the quote page has no accessibility violations", async () => {
  await openQuote();
  await page.locator("#more summary").click();
  for (const summary of await page.locator("#quote details summary").all()) await summary.click();
  await page.locator("#recipient").fill(RECIPIENT);
  await review();
  await page.locator("#decoded").waitFor();
  await setView(390, "light");
  assert.deepEqual(await violations(), []);
  assert.deepEqual(await darkViolations(), [], "in dark mode");
  await page.locator("#out").click();
  await page.locator("#out-list [role=option]").first().waitFor();
  assert.deepEqual(await violations(), [], "with an open list");
});

check("hostile names stay text", async () => {
  await setView(390, "light");
  await page.goto(hostileUrl + "/");
  await page.evaluate(() => { window.attack = () => { window.isAttacked = true; }; });
  await page.locator("#in").click();
  await page.locator("#in-list [role=option]").first().waitFor();
  const names = await page.locator("#in-list").innerText();
  for (const name of ["<img src=x onerror=attack()>", '"><script>attack()</script>', "</textarea><svg onload=attack()>", "<b>USDC</b>"]) {
    assert.ok(names.includes(name), name);
  }
  await page.locator("#in-list [role=option]", {hasText: "<img"}).click();
  await page.locator("#out").fill("0x2222");
  await page.keyboard.press("Enter");
  await page.locator("#ask").click();
  await waitForPicture("#picture img");
  for (const summary of await page.locator("#quote details summary").all()) await summary.click();
  assert.match(await received(), /<b>USDC<\/b>/);
  assert.deepEqual(await page.evaluate(misfits, [MIN_FIELD_PX, MIN_HEIGHT_PX]), []);
  assert.equal(await page.locator("main script, main svg, main :is([onload], [onerror])").count(), 0);
  assert.equal(await page.evaluate(() => window.isAttacked), undefined);
  await page.goto(hostileUrl + "/docs");
  await page.locator("#tokensTestnet").waitFor();
  await unfold();
  await page.getByRole("button", {name: "Send: GET /testnet/tokens", exact: true}).click();
  const shown = await page.locator("#tokensTestnet .reply pre").innerText();
  assert.ok(shown.includes("__proto__\\u202e"), shown);
  assert.ok(!/[\u202a-\u202e\u2066-\u2069]/.test(shown), "a name reorders the response");
});

quickCheck("no request leaves the service, and no script fails", async () => {
  const origins = new Set(requests.map(each => new URL(each)).filter(each => !["data:", "blob:", "about:"].includes(each.protocol)).map(each => each.origin));
  assert.deepEqual([...origins].sort(), [url, modelledUrl, visitorsUrl, live.url, refused.url, ...isFull ? [hostileUrl, judged.url, keyed.url] : []].sort());
  assert.deepEqual(problems, []);
});

try {
  for (const [name, run] of checks) {
    const started = performance.now();
    let failure = null;
    try {
      await run();
    } catch (error) {
      failure = `${error.message}\n${error.stack}`.slice(0, 4000);
    }
    console.log(JSON.stringify({check: name, failure, ms: Math.round(performance.now() - started)}));
  }
} finally {
  await context.close();
}
