// Checks of the HTML pages in one Chromium. Prints a line {"check", "failure"} for each of them.

import assert from "node:assert/strict";
import {readFileSync} from "node:fs";
import {createRequire} from "node:module";

const require = createRequire(new URL("../../contracts/package.json", import.meta.url));
const {chromium} = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

const {browser, profile, url, hostileUrl, judged, live, refused, isFull, orders} = JSON.parse(process.argv[2]);
const NATIVE = "0x0000000000000000000000000000000000000000", USDC = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913";
const WETH = "0x4200000000000000000000000000000000000006";
const RECIPIENT = "0x1111111111111111111111111111111111111111", KEY = "no-such-key-7f3a";
const STARKNET_RECIPIENT = `0x0${"12".repeat(31)}1`;
const WIDTHS = isFull ? [390, 768, 1280] : [390];
const MIN_FIELD_PX = 200, MIN_HEIGHT_PX = 24;  // 24 px: target size of WCAG 2.2 AA
const TIMEOUT_MS = 90_000, ACTION_TIMEOUT_MS = 5_000;
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
const page = await context.newPage();
page.on("pageerror", error => problems.push(String(error)));
page.on("dialog", dialog => { problems.push("dialog: " + dialog.message()); dialog.dismiss(); });
page.on("console", message => {
  if (message.type() === "error" && !message.text().startsWith("Failed to load resource")) problems.push(message.text());
});

const setView = (width, colorScheme = "light") =>
  Promise.all([page.setViewportSize({width, height: 844}), page.emulateMedia({colorScheme})]);

/** Open the page of a quote and wait for its picture. */
async function openQuote(address = url + ORDER) {
  await page.goto("about:blank");
  await page.goto(address);
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

const received = () => page.locator(".received").innerText();
const digits = text => text.replace(/[^\d]/g, "");

quickCheck("the quote page fits every width", async () => {
  for (const width of WIDTHS) {
    await setView(width);
    await openQuote();
    await page.locator("#more summary").click();
    await page.locator("#quote details summary").click();
    assert.deepEqual(await page.evaluate(misfits, [MIN_FIELD_PX, MIN_HEIGHT_PX]), [], `at ${width} px`);
    const [shown, natural] = await page.locator("#picture img").evaluate(image => [image.clientWidth, image.naturalWidth]);
    assert.ok(Math.abs(natural / shown - 1) < 0.1, `the picture for ${natural} px is ${shown} px wide`);
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
  await page.locator("#in-note").filter({hasText: NATIVE}).waitFor();
  const response = page.waitForResponse(each => each.url().includes("/base/route?amount=1250500000000000000000"));
  await page.locator("#amount").fill("1,250.5");
  await page.locator("#out").fill("usdc");
  await page.locator("#out-list [role=option]").first().click();
  await page.locator("#ask").click();
  const answer = await response, route = await answer.json();
  await page.locator(".received + .note", {hasText: "for 1,250.5 ETH"}).waitFor();
  assert.equal(new URL(answer.url()).searchParams.get("amount"), "1250500000000000000000");
  await waitForPicture("#picture img");
  const units = BigInt(route.outputAmount), text = await received();
  const [whole, fraction = ""] = text.split(" ")[0].split(".");
  assert.equal(BigInt(digits(whole) + fraction.padEnd(6, "0")), units);
  const minimum = BigInt(route.minReceived), figures = await page.locator("#quote dl").innerText();
  assert.ok(figures.includes(`${(minimum / 10n ** 6n).toLocaleString("en")}.${String(minimum % 10n ** 6n).padStart(6, "0").replace(/0+$/, "")} `));
  for (const name of ["At least", "Rate", "Price impact", "Gas", "Best single path", "Pool state", "Use before"]) {
    assert.ok(figures.includes(name), name);
  }
  assert.match(await page.getByRole("list", {name: "Warnings"}).innerText(), /The state of the pools is modelled: these are not live prices\./);
  await page.locator("#recipient").fill(RECIPIENT);
  await page.getByRole("button", {name: "Build transaction"}).click();
  await page.locator("#payload-calldata").waitFor();
  assert.match(await page.locator("#payload-to").inputValue(), /^0x[0-9a-fA-F]{40}$/);
  assert.equal(await page.locator("#payload-value-in-wei").inputValue(), "1250500000000000000000");
  assert.match(await page.locator("#payload-calldata").inputValue(), /^0x[0-9a-f]{200,}$/);
  assert.equal(page.url().includes(RECIPIENT), false);
});

check("a recipient that loses the output is refused or warned of", async () => {
  await openQuote(url + ORDER);
  const build = async recipient => {
    await page.locator("#recipient").fill(recipient);
    await page.getByRole("button", {name: "Build transaction"}).click();
  };
  await build("0xca11bde05977b3631167028862be2a173976ca11");
  await page.getByText("is the multicall contract: what it receives would be lost").waitFor();
  await setView(390);
  assert.deepEqual(await page.evaluate(misfits, [MIN_FIELD_PX, MIN_HEIGHT_PX]), []);
  assert.equal(await page.locator("#payload-calldata").count(), 0);
  await build("0x000000000000000000000000000000000000dEaD");
  await page.getByText("what it receives is burned").waitFor();
  await page.locator("#payload-calldata").waitFor();
});

check("a high slippage needs a tick, and basis points are read", async () => {
  await openQuote(url + ORDER.replace("slippage=0.5", "slippage=30"));
  assert.match(await page.getByRole("list", {name: "Warnings"}).innerText(), /slippage of 30%/);
  await page.locator("#recipient").fill(RECIPIENT);
  await page.getByRole("button", {name: "Build transaction"}).click();
  await page.getByText("write 30bps").waitFor();
  assert.equal(await page.locator("#payload-calldata").count(), 0);
  await page.getByLabel("The swap may pay 30% less than the quote").check();
  await page.getByRole("button", {name: "Build transaction"}).click();
  await page.locator("#payload-calldata").waitFor();
  await page.locator("#slippage").fill("30bps");
  await page.locator("#ask").click();
  await page.locator("#quote dl").filter({hasText: "with 0.3% slippage"}).waitFor();
  assert.equal(await page.locator("#consents input").count(), 0);
});

check("a transaction has the verdict of a node", async () => {
  const build = async network => {
    await openQuote(`${judged.url}/?network=${network}&in=${NATIVE}&out=${judged.dollar}&amount=1&slippage=0.5`);
    await page.locator("#recipient").fill(RECIPIENT);
    await page.getByRole("button", {name: "Build transaction"}).click();
  };
  await build("plain");
  await page.getByText("A node has rehearsed this swap").waitFor();
  await page.locator("#payload-calldata").waitFor();
  await build("priced");
  await page.getByRole("list", {name: "Reasons"}).filter({hasText: "below a price outside its route: price feeds"}).waitFor();
  await page.locator("#payload-calldata").waitFor();
  await build("lost");
  await page.getByText("Do not sign this transaction.").waitFor();
  assert.match(await page.getByRole("list", {name: "Reasons"}).innerText(), /^Nothing is deployed at the router's address 0x\w+\. \S.*\.$/);
  assert.equal(await page.locator("#payload-calldata").count(), 0);
  await setView(390, "light");
  assert.deepEqual(await violations(), []);
  assert.deepEqual(await page.evaluate(misfits, [MIN_FIELD_PX, MIN_HEIGHT_PX]), []);
  await page.getByLabel("Show it all the same").check();
  await page.locator("#payload-calldata").waitFor();
  await page.getByLabel("Show it all the same").uncheck();
  assert.equal(await page.locator("#payload-calldata").count(), 0);
  await openQuote();
  await page.locator("#recipient").fill(RECIPIENT);
  await page.getByRole("button", {name: "Build transaction"}).click();
  await page.getByText("No node has checked this transaction.").waitFor();
  await page.locator("#payload-calldata").waitFor();
});

quickCheck("the default order is quoted at once and refreshed", async () => {
  await page.clock.install();
  try {
    await page.goto(url + "/");
    await waitForPicture("#picture img");
    assert.match(await page.locator("#received-label").innerText(), /modelled/);
    const [shown, muted] = await page.locator("#received, #received .unit").evaluateAll(nodes => nodes.map(node => getComputedStyle(node).color));
    assert.equal(shown, muted, "a modelled headline is grey");
    assert.match(await page.locator("#value").innerText(), /^about \$3,1\d\d\.\d\d$/);
    assert.match(await page.locator("#worth").innerText(), /^about \$3,1\d\d\.\d\d$/);
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
    await page.getByRole("button", {name: "Build transaction"}).click();
    await page.locator("#payload-calldata").waitFor();
    assert.match(await page.locator("#countdown").innerText(), /^Paused: the transaction below/);
  } finally {
    await page.clock.resume();
  }
});

quickCheck("a quote of a chain follows its blocks, and the clock without a stream", async () => {
  const order = `/?network=testnet&in=${NATIVE}&out=${live.dollar}&amount=1&slippage=0.5`;
  await openQuote(live.url + order);
  await page.locator("#countdown").filter({hasText: "Live: follows every block"}).waitFor();
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
  await page.locator("#countdown").filter({hasText: "Live: follows every block"}).waitFor();
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
  await page.locator(".received + .note", {hasText: orders.dollars}).waitFor();
  await ask("50%");
  await page.getByText("A part of a balance needs a sender").waitFor();
  assert.equal(await page.locator("#amount").getAttribute("aria-invalid"), "true");
});

quickCheck("a quote is that of the command, and its cast command", async () => {
  await openQuote(`${url}/?network=base&in=${USDC}&out=${WETH}&amount=5000000&slippage=0.5`);
  assert.equal((await received()).replace(/\s+/g, " "), `${orders.received} WETH`);
  await page.locator("#recipient").fill(RECIPIENT);
  await page.getByRole("button", {name: "Build transaction"}).click();
  await page.locator("#payload-commands-of-cast").waitFor();
  assert.equal(await page.locator("#payload-commands-of-cast").inputValue(), orders.cast);
});

check("a high price impact needs a tick", async () => {
  await openQuote(`${url}/?network=base&in=${NATIVE}&out=${USDC}&amount=10m&slippage=0.5`);
  await page.locator("#recipient").fill(RECIPIENT);
  await page.getByRole("button", {name: "Build transaction"}).click();
  await page.getByText(/price impact of [\d.]+% is above 15%: tick/).waitFor();
  assert.equal(await page.locator("#payload-calldata").count(), 0);
  await page.locator("#consent-impact").check();
  await page.getByRole("button", {name: "Build transaction"}).click();
  await page.locator("#payload-calldata").waitFor();
});

check("every network has a quote and a transaction", async () => {
  for (const network of ["citrea", "hyperevm", "monad", "starknet"]) {
    await page.goto(`${url}/?network=${network}`);
    await page.locator("#in-note").filter({hasText: "0x"}).waitFor();
    await page.locator("#amount").fill("0.25");
    await page.locator("#ask").click();
    await page.locator(".received + .note", {hasText: "for 0.25 "}).waitFor();
    await waitForPicture("#picture img");
    await page.locator("#recipient").fill(network === "starknet" ? STARKNET_RECIPIENT : RECIPIENT);
    await page.getByRole("button", {name: "Build transaction"}).click();
    await page.locator("#quote textarea").last().waitFor();
    assert.ok((await page.locator("#quote textarea").last().inputValue()).length > 100);
  }
});

check("a link reproduces a quote, and Back the one before", async () => {
  await openQuote();
  const first = await received(), link = page.url();
  await page.locator("#amount").fill("7");
  await page.keyboard.press("Enter");
  await page.locator(".received + .note", {hasText: "for 7 ETH"}).waitFor();
  assert.notEqual(await received(), first);
  assert.equal(new URL(page.url()).searchParams.get("amount"), "7");
  await page.goBack();
  await page.locator(".received + .note", {hasText: "for 25 ETH"}).waitFor();
  assert.equal(await received(), first);
  await openQuote(link);
  assert.equal(await received(), first);
  assert.equal(page.url(), link);
});

quickCheck("the quote page is usable by keyboard alone", async () => {
  await page.goto(url + "/");
  await page.locator("#in-note").filter({hasText: NATIVE}).waitFor();
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
  await page.locator(".received + .note", {hasText: "for 3 ETH on base"}).waitFor();
  await tabTo("recipient");
  await page.keyboard.type(RECIPIENT);
  await page.keyboard.press("Enter");
  await page.locator("#payload-calldata").waitFor();
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
  for (const [amount, pattern] of [["1.5.2", /decimal number/], ["0", /more than zero/], ["1.0000000000000000001", /18 decimals/]]) {
    await page.locator("#amount").fill(amount);
    await page.keyboard.press("Enter");
    await says(pattern);
    assert.equal(await page.locator("#amount").getAttribute("aria-invalid"), "true");
  }
  await page.locator("#amount").fill("1");
  await page.locator("#out").fill("no such token");
  await page.locator("#ask").click();
  await says(/No such token/);
  await page.locator("#out").fill("USDC");
  await page.locator("#slippage").fill("0.01");
  await page.locator("#ask").click();
  await says(/slippage/i);
  await page.goto(`${url}/?network=nowhere&amount=1`);
  await says(/no network nowhere/);
  await page.goto(url + "/");
  await page.locator("#in-note").filter({hasText: NATIVE}).waitFor();
  await context.setOffline(true);
  await page.locator("#ask").click();
  await says(/does not respond/).finally(() => context.setOffline(false));
});

check("an API key stays in the memory of the page", async () => {
  await page.goto(url + ORDER);
  await page.locator(".received").waitFor();
  await page.locator("#more summary").click();
  await page.locator("#key").fill(KEY);
  const request = page.waitForRequest(each => each.url().includes("/base/route?"));
  await page.locator("#ask").click();
  assert.equal((await request).headers()["x-api-key"], KEY);
  await page.locator("#error").filter({hasText: /key is not known/}).waitFor();
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
  await page.getByText("Operations", {exact: true}).click();
  await page.locator('nav a[href="#route"]').click();
  await page.getByRole("button", {name: "Send: GET /{network}/route", exact: true}).click();
  await waitForPicture("#route figure img");
  assert.match(await page.locator("#route .summary").innerText(), /^1 ETH → [\d,.]+ USDC: \d+ paths? through \d+ pools?$/);
  assert.match(await page.locator("#route pre").first().innerText(), /"outputAmount"/);
  await page.locator("#calldata .fold > summary").click();
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
  await page.locator("#quote details summary").click();
  await page.locator("#recipient").fill(RECIPIENT);
  await page.getByRole("button", {name: "Build transaction"}).click();
  await page.locator("#payload-calldata").waitFor();
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
  await page.locator("#quote details summary").click();
  assert.match(await page.locator(".received").innerText(), /<b>USDC<\/b>/);
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
  assert.deepEqual([...origins].sort(), [url, live.url, refused.url, ...isFull ? [hostileUrl, judged.url] : []].sort());
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
