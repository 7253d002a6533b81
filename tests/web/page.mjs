// Checks of the page in one Chromium. Prints a line {"check", "failure"} for each of them.

import assert from "node:assert/strict";
import {readFileSync} from "node:fs";
import {createRequire} from "node:module";

const require = createRequire(new URL("../contracts/package.json", import.meta.url));
const {chromium} = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

const {browser, profile, url, other, isFull, files, expected} = JSON.parse(process.argv[2]);
const TIMEOUT_MS = isFull ? 570_000 : 230_000, ACTION_TIMEOUT_MS = 120_000, WIDTHS = [320, 390, 768, 1280];
const NATIVE_SYMBOL = "ETH", TRANSFER_AMOUNT = "1234567";

const checks = [];
const quickCheck = (name, run) => checks.push([name, run]);
const check = (name, run) => isFull && checks.push([name, run]);

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
page.on("console", message => { if (message.type() === "error") problems.push(message.text()); });

const tab = name => page.getByRole("tab", {name, exact: true}).click();
const press = name => page.getByRole("button", {name, exact: true}).click();
const text = selector => page.locator(selector).innerText();
const ready = () => page.locator("#state", {hasText: "Ready"}).waitFor();
const choose = (id, name) => page.locator(id).setInputFiles(files[name]);
const error = id => page.locator(`${id} .bad`);

/** Return what is wrong with the layout at this width. */
function misfits() {
  const width = document.documentElement.clientWidth, found = [];
  if (document.documentElement.scrollWidth > width) found.push(`the page scrolls to ${document.documentElement.scrollWidth} px`);
  for (const node of document.querySelectorAll("main *, header *")) {
    const box = node.getBoundingClientRect();
    if (box.width && node.checkVisibility() && box.right > width + 1) found.push(`${node.tagName} ${node.id} ends at ${box.right}`);
  }
  return found;
}

async function violations(options = {}) {
  await page.evaluate(axe);
  const {violations: found} = await page.evaluate(each => axe.run(document, each), {resultTypes: ["violations"], ...options});
  return found.flatMap(rule => rule.nodes.map(node => `${rule.id}: ${node.target} ${node.failureSummary}`)).slice(0, 20);
}

quickCheck("it says what it loads, and can be used meanwhile", async () => {
  await page.goto(url);
  await page.locator("#state", {hasText: "Loading Python"}).waitFor();
  await tab("Payload");
  await page.locator("#payload").fill(expected.payload);
  await tab("Quote");
  assert.match(await text("#state"), /^Loading/);
  await ready();
  assert.match(await text("#market-note"), /^220 pools on base\.$/);
  assert.equal(await page.locator("#token-in").inputValue(), NATIVE_SYMBOL);
});

quickCheck("a quote has the amounts of the command", async () => {
  await page.locator("#amount").fill("50");
  await press("Get quote");
  await page.locator(".received").waitFor();
  const exact = await page.locator("dt", {hasText: /^Output$/}).locator("xpath=following-sibling::dd").innerText();
  const units = BigInt(exact.replace(/ USDC$/, "").replaceAll(",", "").replace(/\.(\d+)$/, (_, digits) => digits.padEnd(6, "0")));
  assert.equal(units, BigInt(expected.outputAmount));
  assert.ok(exact.startsWith((await text(".received")).replace(/ USDC$/, "")), "the headline is rounded down");
  const shown = await text("#quote-answer");
  assert.match(shown, /No route pays more than/);
  assert.equal(shown.match(/modelled: these are not live prices/g).length, 1);
  assert.equal(await page.locator("#quote-answer tbody tr").count(), expected.swaps);
  await page.waitForFunction(() => document.querySelector(".picture img").naturalWidth > 0);
});

quickCheck("a payload has the verdict of the command", async () => {
  await tab("Payload");
  await page.locator("#network").selectOption("base");
  await press("Decode");
  await page.locator("#payload-answer .verdict").waitFor();
  assert.equal((await text("#payload-answer .verdict")).replace(/\.$/, "").toLowerCase(), expected.verdict.replace(/\.$/, "").toLowerCase());
  assert.match(await text("#payload-answer"), /This page uses no node/);
});

quickCheck("a proof is accepted, and a changed one is not", async () => {
  await tab("Proof");
  await choose("#proof-file", "proof");
  await page.locator("#proof-answer .good").waitFor();
  assert.ok((await text("#proof-answer")).includes(expected.proofLine));
  await choose("#proof-file", "rejected");
  await page.locator("#proof-answer .bad", {hasText: "Rejected"}).waitFor();
});

quickCheck("a bad proof file is one sentence", async () => {
  for (const [name, words] of [["empty", /empty\.json is empty\./], ["binary", /Not readable as a proof/], ["truncated", /Not readable as a proof/],
    ["huge", /huge\.json is 65 MB\. This page reads files up to 64 MB/]]) {
    await choose("#proof-file", name);
    await page.locator("#proof-answer", {hasText: words}).waitFor();
  }
});

quickCheck("a bad market file is one sentence, and nothing is lost", async () => {
  await tab("Quote");
  for (const [name, words] of [["empty", /^empty\.json is empty\.$/], ["binary", /^binary\.json: not a market file: it is not valid UTF-8/],
    ["truncated", /^truncated\.json: not a market file: it is not valid JSON/], ["huge", /^huge\.json is 65 MB\. This page reads files up to 64 MB/]]) {
    await choose("#market-file", name);
    await error("#market-note").filter({hasText: words}).waitFor();
    assert.doesNotMatch(await text("#market-note"), /\n/);
  }
  assert.equal(await page.locator("#market").inputValue(), "base");
  assert.equal(await page.locator("#amount").inputValue(), "50");
  assert.equal(await page.locator("#payload").inputValue(), expected.payload);
  await press("Get quote");
  await page.locator(".received").waitFor();
});

quickCheck("a market file is quoted and compared with", async () => {
  await choose("#market-file", "market");
  await page.locator("#market-note", {hasText: /^220 pools on base/}).waitFor();
  assert.equal(await page.locator("#market").inputValue(), "file");
  await page.locator("#amount").fill("$1000");
  await press("Get quote");
  await page.locator(".received").filter({hasNotText: "155,"}).waitFor();
  await tab("Payload");
  assert.ok(await page.locator("#on-file").isChecked());
  await choose("#payload-file", "payload");
  await page.waitForFunction(() => document.getElementById("payload").value.includes("chainId"));
  await press("Decode");
  await page.locator("#payload-answer .verdict").waitFor();
});

quickCheck("a bad order or payload is one sentence with a hint", async () => {
  await page.locator("#payload").fill("hello");
  await press("Decode");
  await error("#payload-answer").waitFor();
  await choose("#payload-file", "binary");
  await error("#payload-answer").filter({hasText: "binary.json is not a text file."}).waitFor();
  assert.equal(await page.locator("#payload").inputValue(), "hello");
  await tab("Quote");
  for (const [field, value, words] of [["#token-out", "NOPE", /No token "NOPE" on base\. Give the token's address\./],
    ["#amount", "much", /"much" is not an amount/]]) {
    const before = await page.locator(field).inputValue();
    await page.locator(field).fill(value);
    await press("Get quote");
    await error("#quote-answer").filter({hasText: words}).waitFor();
    await page.locator(field).fill(before);
  }
});

quickCheck("the policy keeps requests here, from the page and from Python", async () => {
  const leave = address => fetch(address, {mode: "no-cors"}).then(() => "sent", () => "blocked");
  const [worker] = page.workers();
  assert.equal(await page.evaluate(leave, other), "blocked");
  assert.equal(await worker.evaluate(leave, other), "blocked");
  problems.splice(0, problems.length, ...problems.filter(each => !each.includes(new URL(other).host)));
});

check("tabs work with the keyboard", async () => {
  await page.getByRole("tab", {name: "Quote"}).focus();
  await page.keyboard.press("ArrowRight");
  assert.equal(await page.locator("#payload-panel").isVisible(), true);
  await page.keyboard.press("End");
  assert.equal(await page.locator("#proof-panel").isVisible(), true);
  await page.keyboard.press("ArrowRight");
  assert.equal(await page.locator("#quote-panel").isVisible(), true);
});

check("a dropped file is opened by the visible tab", async () => {
  await tab("Proof");
  await page.evaluate(content => {
    const dropped = new DataTransfer();
    dropped.items.add(new File([content], "dropped.json"));
    document.body.dispatchEvent(new DragEvent("drop", {dataTransfer: dropped, bubbles: true, cancelable: true}));
  }, readFileSync(files.proof, "utf8"));
  await page.locator("#proof-answer .good").waitFor();
  await tab("Quote");
});

check("the proof of a quote is saved, and accepted", async () => {
  await page.locator("#amount").fill("2");
  await press("Get quote");
  await page.locator("#quote-answer", {hasText: "for 2 ETH"}).waitFor();
  const [download] = await Promise.all([page.waitForEvent("download"), press("Save proof")]);
  assert.equal(download.suggestedFilename(), "proof-ETH-USDC.json");
  await tab("Proof");
  await page.locator("#proof-file").setInputFiles(await download.path());
  await page.locator("#proof-answer .good").waitFor();
  await tab("Quote");
});

check("hostile names stay text", async () => {
  await page.evaluate(() => { window.attack = () => { window.isAttacked = true; }; });
  await choose("#market-file", "hostile");
  await page.locator("#market", {hasText: "hostile.json"}).waitFor();
  await ready();
  await page.locator("#token-out").fill("0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913");
  await page.locator("#amount").fill("3");
  await press("Get quote");
  await page.locator(".received", {hasText: "<img src=x onerror=attack()>"}).waitFor();
  assert.equal(await page.locator("main script, main svg, main :is([onload], [onerror])").count(), 0);
  assert.equal(await page.evaluate(() => window.isAttacked), undefined);
  await page.locator("#token-out").fill("USDC");
});

check("a market file of 50 MB is opened and quoted", async () => {
  await choose("#market-file", "big");
  await page.locator("#market-note", {hasText: /^\d\d,\d{3} pools on base/}).waitFor();
  await page.locator("#certify").uncheck();
  await page.locator("#amount").fill("7");
  await press("Get quote");
  await page.locator("#quote-answer", {hasText: "for 7 ETH"}).waitFor();
});

check("work can be stopped, and everything goes on", async () => {
  await page.locator("#amount").fill(TRANSFER_AMOUNT);
  await press("Get quote");
  await page.locator("#stop").click();
  await error("#quote-answer").filter({hasText: "Stopped."}).waitFor();
  assert.equal(await page.locator("#amount").inputValue(), TRANSFER_AMOUNT);
  await page.locator("#market").selectOption("base");
  await ready();
  await press("Get quote");
  await page.locator("#quote-answer", {hasText: `for ${Number(TRANSFER_AMOUNT).toLocaleString("en")} ETH`}).waitFor();
});

check("it fits every width, and axe finds nothing in light and dark", async () => {
  for (const name of ["Quote", "Payload", "Proof"]) {
    await tab(name);
    for (const width of WIDTHS) {
      await page.setViewportSize({width, height: 844});
      assert.deepEqual(await page.evaluate(misfits), [], `${name} at ${width} px`);
    }
    for (const colorScheme of ["light", "dark"]) {
      await page.emulateMedia({colorScheme});
      assert.deepEqual(await violations(), [], `${name}, ${colorScheme}`);
    }
  }
});

quickCheck("no script failed, and no request left", async () => {
  const origins = new Set(requests.filter(each => !/^(blob|data):/.test(each)).map(each => new URL(each).origin));
  origins.delete(new URL(other).origin);  // the attempts that the policy blocked
  assert.deepEqual([...origins], [new URL(url).origin]);
  assert.deepEqual(problems, []);
});

try {
  for (const [name, run] of checks) {
    const started = performance.now();
    let failure = null;
    try {
      await run();
    } catch (problem) {
      failure = `${problem.message}\n${problem.stack}`.slice(0, 4000);
    }
    console.log(JSON.stringify({check: name, failure, ms: Math.round(performance.now() - started)}));
  }
} finally {
  await context.close();
}
