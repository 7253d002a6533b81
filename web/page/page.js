const MAX_MARKET_BYTES = 64 << 20, MAX_PROOF_BYTES = 64 << 20;  // of markets: 64 MB open in a gigabyte; of proofs: the checker's limit
const MAX_PAYLOAD_BYTES = 4 << 20;  // as the decode command reads
const MAX_OPEN_ROWS = 8;  // of a table that is open at first
const MAX_TIME_S = 253402300799;  // the end of the year 9999, as text has it
const SLOW_MS = 1500;  // then a request can be stopped
const MAX_JSON_SHOWN = 200_000;  // characters; more makes the page slow, and "Copy JSON" has all
const CRASHED = "Python stopped, probably because the browser ran out of memory. It is restarting; your input is kept.";
const NODE_NOTE = "This page uses no node. It cannot check the called contract's code, your balance or your allowances, "
  + "and it cannot simulate the transaction or use live prices. The command swapcli decode runs these checks with your node.";

const byId = id => document.getElementById(id);
const words = list => list.filter(Boolean).join(", ");

/** Python in a worker. A blob starts it, because such a worker inherits this page's policy from any server. */
class Python {
  constructor(onState) {
    this.onState = onState;
    this.waiting = new Map();
    this.next = 1;
    this.start();
  }

  start() {
    const script = `import ${JSON.stringify(new URL("worker.js", document.baseURI).href)};`;
    const address = URL.createObjectURL(new Blob([script], {type: "text/javascript"}));
    this.worker = new Worker(address, {type: "module"});
    this.worker.onmessage = ({data}) => this.receive(data);
    this.worker.onerror = event => this.break(event.message || "its files cannot be loaded");
  }

  /** Return the result of an action. Throws an Error whose message is a sentence. */
  call(action, fields, file = null) {
    if (this.problem) return Promise.reject(new Error(this.problem));
    const id = this.next++;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, {resolve, reject});
      this.worker.postMessage({id, action, fields, file});
    });
  }

  receive({stage, broken, id, reply, crash}) {
    if (stage !== undefined) this.onState(stage);
    else if (broken !== undefined) this.break(broken);
    else if (crash !== undefined) this.restart(CRASHED);
    else {
      const request = this.waiting.get(id);
      this.waiting.delete(id);
      if (reply.error) request.reject(new Error(errorText(reply.error)));
      else request.resolve(reply.result);
    }
  }

  /** End all requests with a sentence, and start Python again. */
  restart(message) {
    this.worker.terminate();
    this.rejectAll(message);
    this.start();
  }

  break(reason) {
    this.problem = `Python cannot start: ${sentence(reason)} Reload the page, or use a different browser.`;
    this.onState(this.problem);
    this.rejectAll(this.problem);
  }

  rejectAll(message) {
    const requests = [...this.waiting.values()];
    this.waiting.clear();
    for (const {reject} of requests) reject(new Error(message));
  }
}

/** Return an error's message and hint as sentences. A file's name at the beginning stays as it is. */
function errorText({message, hint}) {
  const text = sentence(message), isFile = /^[\w.-]+\.\w+: /.test(message);
  return (isFile ? message[0] + text.slice(1) : text) + (hint ? " " + sentence(hint) : "");
}

let loading = "Starting …", busy = 1, slowTimer = null, outcome = "Nothing you enter leaves this page.";  // the start itself is work
const python = new Python(stage => { loading = stage; showState(); });

function showState() {
  byId("state").textContent = loading || (busy ? "Working …" : `Ready. ${outcome}`);
  if (!busy) byId("stop").hidden = true;
}

/** Run what a form does: its errors go into `answer`, and its button waits meanwhile. */
async function run(form, answer, work) {
  const button = form?.querySelector("button:not([type])");
  if (button) button.disabled = true;
  busy += 1;
  clearTimeout(slowTimer);
  slowTimer = setTimeout(() => { byId("stop").hidden = !busy; }, SLOW_MS);
  showState();
  try {
    answer.replaceChildren(...await work());
    if (form) outcome = "The result is below the form.";
  } catch (error) {
    outcome = "";
    answer.replaceChildren(element("p", {class: "bad", role: "alert"}, error.message));
  } finally {
    busy -= 1;
    if (button) button.disabled = false;
    showState();
  }
}

byId("stop").addEventListener("click", () => python.restart("Stopped."));

/** Return a file, or throw an Error if it is larger than `limit` bytes or empty. Nothing is read. */
function sized(file, limit) {
  const megabytes = size => `${Math.ceil(size / 2 ** 20)} MB`;
  if (file.size > limit) throw new Error(`${printable(file.name)} is ${megabytes(file.size)}. This page reads files up to ${megabytes(limit)}; use the swapcli command instead.`);
  if (!file.size) throw new Error(`${printable(file.name)} is empty.`);
  return file;
}

// Tabs ----------------------------------------------------------------------------------------------------------------

const tabs = [...document.querySelectorAll("[role=tab]")];

function selectTab(chosen) {
  for (const tab of tabs) {
    const isChosen = tab === chosen;
    tab.setAttribute("aria-selected", String(isChosen));
    tab.tabIndex = isChosen ? 0 : -1;
    byId(tab.getAttribute("aria-controls")).hidden = !isChosen;
  }
}

for (const [index, tab] of tabs.entries()) {
  tab.addEventListener("click", () => selectTab(tab));
  tab.addEventListener("keydown", event => {
    const target = {ArrowRight: index + 1, ArrowLeft: index - 1 + tabs.length, Home: 0, End: tabs.length - 1}[event.key];
    if (target === undefined) return;
    event.preventDefault();
    const next = tabs[target % tabs.length];
    selectTab(next);
    next.focus();
  });
}

/** Give a dropped file to the field of the visible tab. */
function takeDrop(event) {
  event.preventDefault();
  document.body.classList.remove("dragged");
  const input = document.querySelector("[role=tabpanel]:not([hidden]) input[type=file]");
  if (!event.dataTransfer.files.length) return;
  input.files = event.dataTransfer.files;
  input.dispatchEvent(new Event("change"));
}

addEventListener("dragover", event => { event.preventDefault(); document.body.classList.add("dragged"); });
addEventListener("dragleave", event => { if (!event.relatedTarget) document.body.classList.remove("dragged"); });
addEventListener("drop", takeDrop);

// Parts of answers ----------------------------------------------------------------------------------------------------

const fact = (name, ...values) => element("div", {}, element("dt", {}, name), element("dd", {}, ...values));
const small = text => text ? element("small", {}, text) : null;
const timeText = seconds => new Date(seconds * 1000).toISOString().slice(0, 19).replace("T", " ") + " UTC";
const mono = text => element("span", {class: "mono"}, text);

/** Return the symbol of a token, or its address if that is all that is known. */
function tokenName(token) {
  return token ? printable(token.symbol ?? token.address) : "an unknown token";
}

/** Return an amount in whole tokens, exact; in base units if the token's decimals are unknown. */
function amountText(units, token) {
  const decimals = token?.decimals ?? null;
  return decimals === null ? `${group(units)} base units of ${tokenName(token)}` : `${formatAmount(units, decimals)} ${tokenName(token)}`;
}

/** Return a number with three significant digits, rounded up: a bound must not look smaller than it is. */
function roundUp(number) {
  if (!(number > 0)) return "0";
  const step = 10 ** (Math.floor(Math.log10(number)) - 2);
  return String(Number((Math.ceil(number / step) * step).toPrecision(3)));
}

/** Return a table under a heading that opens it; a short one is open. Null without rows. */
function table(heading, names, rows) {
  if (!rows.length) return null;
  const cell = (value, at) => element("td", {"data-name": names[at]}, value ?? "");
  return element("details", rows.length > MAX_OPEN_ROWS ? {} : {open: ""}, element("summary", {}, heading),
    element("table", {"aria-label": heading},
      element("thead", {}, element("tr", {}, ...names.map(name => element("th", {scope: "col"}, name)))),
      element("tbody", {}, ...rows.map(row => element("tr", {}, ...row.map(cell))))));
}

function list(label, texts, kind = "warnings") {
  return texts.length ? element("ul", {class: kind, "aria-label": label}, ...texts.map(text => element("li", {}, text))) : null;
}

function jsonPart(document) {
  const text = jsonText(document), shown = element("pre", {tabindex: "0"});
  const part = element("details", {}, element("summary", {}, "JSON document"), shown);
  part.addEventListener("toggle", () => {
    shown.textContent = text.length > MAX_JSON_SHOWN ? text.slice(0, MAX_JSON_SHOWN) + "\n… Use Copy JSON for the rest." : text;
  });
  return element("div", {class: "stack"}, element("div", {class: "actions"}, copyButton("Copy JSON", () => text)), part);
}

function save(name, text) {
  const address = URL.createObjectURL(new Blob([text], {type: "application/json"}));
  element("a", {href: address, download: name}).click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

// Quote ---------------------------------------------------------------------------------------------------------------

let fileMarket = null, files = 0;

/** Return the fields and the file that name the chosen market. */
function chosenMarket() {
  const value = byId("market").value;
  return value === "file" ? fileMarket : {fields: {network: value}, file: null};
}

/** Suggest the tokens of a market, fill in two where the order has none of it, and return its facts as a sentence. */
function showMarket({network, pools, block, timestamp, warnings, tokens}) {
  byId("tokens").replaceChildren(...tokens.map(({symbol, name, address}) =>
    element("option", {value: printable(symbol)}, `${printable(name)} ${address}`)));
  const known = text => tokens.some(({symbol, address}) => [symbol, address].some(each => each.toLowerCase() === text.toLowerCase()));
  const first = tokens[0].symbol, other = tokens.find(({symbol}) => symbol === "USDC")?.symbol ?? tokens[2]?.symbol ?? "";
  for (const [id, symbol] of [["token-in", first], ["token-out", other]]) {
    const field = byId(id);
    if (!field.value || (!known(field.value) && !field.value.startsWith("0x"))) field.value = printable(symbol);
  }
  const facts = words([`${group(pools)} pools on ${printable(network)}`, block ? `block ${group(block)}` : "", timestamp ? timeText(timestamp) : ""]);
  return [facts, ...warnings.map(printable)].join(". ") + ".";
}

/** Show the facts of the chosen market; an error appears under the choice. */
async function loadMarket() {
  const {fields, file} = chosenMarket();
  await run(null, byId("market-note"), async () => [showMarket(await python.call("market", fields, file))]);
}

/** Open a market file. If that fails, the market chosen before stays. */
async function openFile() {
  const [file] = byId("market-file").files;
  if (!file) return;
  await run(null, byId("market-note"), async () => {
    sized(file, MAX_MARKET_BYTES);
    const name = /^\w[\w.-]{0,99}$/.test(file.name) ? file.name : "market.json";
    const fields = {file: name, fileId: ++files};
    const facts = await python.call("market", fields, file);
    fileMarket = {fields, file};
    byId("market").querySelector("[value=file]")?.remove();
    byId("market").append(element("option", {value: "file"}, printable(file.name)));
    byId("market").value = "file";
    byId("on-file").disabled = false;
    byId("on-file").checked = true;
    return [showMarket(facts)];
  });
}

function quoteParts({document: route, tokenIn: sold, tokenOut: bought, swaps, picture}, order, {fields, file}) {
  const {certificate, state, singlePath} = route, out = units => amountText(units, bought);
  const short = units => bought.decimals === null ? out(units) : `${shortAmount(units, bought.decimals)} ${tokenName(bought)}`;
  const isReal = !["modelled", "synthetic"].includes(state.kind);
  const gas = typeof route.gasUsd === "number" ? `gas $${route.gasUsd >= 0.01 ? route.gasUsd.toFixed(2) : route.gasUsd.toPrecision(2)}` : `gas ${group(route.gasUnits ?? "0")} units`;
  const head = [`at least ${short(route.minReceived)}`, `${route.slippage}% slippage`,
    typeof route.priceImpact === "number" ? `impact ${route.priceImpact}%` : "", gas,
    singlePath?.outputAmount && singlePath.gainBps > 0 ? `single path ${singlePath.gainBps.toFixed(2)} bps less` : ""];
  const figures = [
    fact("Output", out(route.outputAmount)), fact("At least", out(route.minReceived)),
    route.outputAfterGas ? fact("After gas", out(route.outputAfterGas)) : null,
    singlePath?.outputAmount ? fact("Single path", out(singlePath.outputAmount)) : null,
    certificate ? fact("No route pays more than", out(certificate.bound), small(`${roundUp(certificate.gapBps)} bps above this route, over ${group(certificate.scope.pools)} pools`)) : null,
    typeof certificate?.afterGasGapBps === "number" ? fact("Proven gap after gas", `${roundUp(certificate.afterGasGapBps)} bps`, small(`for routes with up to ${certificate.scope.maxHops} hops`)) : null,
    fact("State", words([isReal ? printable(state.kind) : "", state.block ? `block ${group(state.block)}` : "", printable(state.source)])),
  ];
  const image = imageOf({text: picture}, "Diagram of the route. The table shows the same data.");
  const saveProof = element("button", {type: "button", class: "quiet small"}, "Save proof");
  const note = element("p", {class: "note", "aria-live": "polite"});
  saveProof.addEventListener("click", () => run(null, note, async () => {
    save(`proof-${order.tokenIn}-${order.tokenOut}.json`.replace(/[^\w.-]/g, "_"), await python.call("proof", {...fields, ...order}, file));
    return ["Check this file in the Proof tab, or anywhere with check_proof.py."];
  }));
  return [
    element("section", {class: "card stack", "aria-label": "Quote"},
      element("div", {}, element("h2", {class: "note"}, `${amountText(route.inputAmount, sold)} on ${printable(route.network)} →`),
        element("p", {class: "received"}, short(route.outputAmount)),
        element("p", {class: "note"}, head.filter(Boolean).join(" · "))),
      list("Warnings", route.warnings.map(({message}) => sentence(message))),
      element("dl", {}, ...figures.filter(Boolean)), jsonPart(route),
      element("div", {class: "actions"}, saveProof), note),
    element("section", {class: "card stack", "aria-label": "Route"}, element("figure", {class: "picture"}, image),
      table(`${swaps.length === 1 ? "The swap" : `All ${swaps.length} swaps`}, with exact amounts`, ["Protocol", "Sells", "Buys", "Pool"], swaps.map(({protocol, pool, tokenIn, tokenOut, amountIn, amountOut}) =>
        [printable(protocol), amountText(amountIn, tokenIn), amountText(amountOut, tokenOut), mono(pool)]))),
  ];
}

byId("quote-form").addEventListener("submit", event => {
  event.preventDefault();
  const answer = byId("quote-answer");
  const order = {tokenIn: byId("token-in").value.trim(), tokenOut: byId("token-out").value.trim(), amount: byId("amount").value.trim()};
  const width = Math.round(Math.min(Math.max(answer.clientWidth - 42, MIN_PICTURE_PX), MAX_PICTURE_PX));
  run(event.target, answer, async () => {
    await started;
    const market = chosenMarket();
    return quoteParts(await python.call("quote", {...market.fields, ...order, width, certify: byId("certify").checked}, market.file), order, market);
  });
});
byId("market").addEventListener("change", loadMarket);
byId("market-file").addEventListener("change", openFile);

// Payload -------------------------------------------------------------------------------------------------------------

const UNLIMITED = new Set([2n ** 256n - 1n, 2n ** 160n - 1n].map(String));

function until(seconds, enforcer) {
  if (seconds === undefined) return fact("Until", "no deadline");
  const text = seconds <= MAX_TIME_S ? timeText(seconds) : `${group(seconds)} s`;
  return fact("Until", text, small(enforcer === "nobody" ? "not enforced" : `enforced by ${printable(enforcer)}`));
}

function approvalFacts(name, approval) {
  if (!approval) return [];
  const {token, spender, amount, expiration, deadline, deadlineEnforcer} = approval, end = expiration ?? deadline;
  const shown = UNLIMITED.has(amount) ? `any amount of ${tokenName(token)}` : amountText(amount, token);
  return [fact(name, shown, small(spender && `for ${spender}`)), end === undefined ? null : until(end, deadlineEnforcer)];
}

function orderFacts({order, freshOutputAmount: fresh, belowFreshPercent: gap}) {
  if (!order) return [];
  const out = units => amountText(units, order.outputToken);
  const below = gap === undefined ? null : `the minimum is ${Math.abs(gap)}% ${gap < 0 ? "above" : "below"} it`;
  return [
    fact(order.exactOutput ? "You sell at most" : "You sell", amountText(order.inputAmount, order.inputToken)),
    fact(order.exactOutput ? "You buy" : "At least", out(order.minReceived)),
    fact("Recipient", mono(order.recipient)), until(order.deadline, order.deadlineEnforcer),
    order.outputAmount ? fact("Quoted", out(order.outputAmount)) : null,
    fresh ? fact("Fresh quote", out(fresh), small(below)) : null,
  ];
}

function messageFacts(message) {
  if (!message) return [];
  const {sells = [], buys = [], recipients = [], approvals = []} = message, amounts = rows => rows.map(({token, amount}) => amountText(amount, token)).join(", ");
  return [
    fact("Message to sign", printable(message.title ?? message.type)),
    message.account ? fact("To be signed by", mono(message.account)) : null, message.owner ? fact("Moves tokens of", mono(message.owner)) : null,
    sells.length ? fact("Sells", amounts(sells)) : null, buys.length ? fact("Buys at least", amounts(buys)) : null,
    ...recipients.map(recipient => fact("Recipient", mono(recipient))),
    ...approvals.flatMap(approval => approvalFacts("Allows", approval)),
    message.deadline === undefined ? null : until(message.deadline, message.deadlineEnforcer),
  ];
}

function paymentText({token, sharePercent, surplusSharePercent, amount}) {
  if (amount !== undefined) return amountText(amount, token);
  return sharePercent === undefined ? `${surplusSharePercent}% of the output above the quote` : `${sharePercent}% of the ${tokenName(token)}`;
}

function payloadParts({document: found, notes}) {
  const kind = {danger: "bad", no_danger_found: "good"}[found.verdict.status] ?? "";
  const {dangers = [], swaps: decodedSwaps = [], payments = [], transactions: listed = []} = found;
  const isDanger = ({code}) => dangers.includes(code);
  const warnings = (found.warnings ?? []).filter(({message}) => !found.verdict.message.includes(message)).sort((one, other) => isDanger(other) - isDanger(one))
    .map(warning => (isDanger(warning) ? "Danger: " : "") + sentence(warning.message));
  const call = found.function ? printable(found.function) : found.selector ? `unknown function ${found.selector}` : "no function";
  const facts = [
    fact("Call", call, small(words([found.dialect ? `router ${printable(found.dialect)}` : "", found.network ? `on ${printable(found.network)}` : "network unknown"]))),
    fact("Contract", found.to ? mono(found.to) : "not given"), found.value === undefined ? null : fact("Value", `${group(found.value)} wei`),
    ...orderFacts(found), ...approvalFacts("Allows", found.approval),
    ...JSON.stringify(found.permit) === JSON.stringify(found.approval) ? [] : approvalFacts("Permit", found.permit),
    ...messageFacts(found.message),
    found.fee ? fact("Integrator's fee", `${found.fee.feeBps} bps`, small(`to ${found.fee.recipient}`)) : null,
    ...payments.map(({recipient, ...payment}) => fact("Pays others", paymentText(payment), small(`to ${recipient}`))),
    found.state ? fact("Compared with", `${printable(found.state.kind)} state`, small(printable(found.state.source))) : null,
  ];
  const swaps = decodedSwaps.map(({protocol, pool, inputToken, outputToken, sharePercent, inputAmount}) => [
    printable(protocol ?? "unknown"), `${tokenName(inputToken)} → ${tokenName(outputToken)}`,
    sharePercent !== undefined ? `${sharePercent}%` : inputAmount === undefined ? "" : amountText(inputAmount, inputToken), mono(pool ?? "unknown")]);
  const transactions = listed.map(({to, value, function: name, selector}, at) =>
    [String(at + 1), printable(name ?? selector ?? "no function"), mono(to ?? "no contract"), value === undefined ? "" : `${group(value)} wei`]);
  return [element("section", {class: "card stack", "aria-label": "Verdict"},
    element("h2", {class: "verdict " + kind}, sentence(found.verdict.message)), list("Warnings", warnings),
    element("dl", {}, ...facts.filter(Boolean)),
    table("Swaps", ["Protocol", "Trades", "Share", "Pool"], swaps),
    table("Transactions", ["Number", "Function", "Contract", "Value"], transactions),
    list("Notes", notes.map(sentence), "lines note"), element("p", {class: "note"}, NODE_NOTE), jsonPart(found))];
}

byId("payload-form").addEventListener("submit", event => {
  event.preventDefault();
  const market = byId("on-file").checked && fileMarket ? fileMarket : {fields: {}, file: null};
  const facts = Object.fromEntries(["payload", "network", "to", "value", "sender", "destination"].map(id => [id, byId(id).value.trim()]));
  run(event.target, byId("payload-answer"), async () => payloadParts(await python.call("decode", {...market.fields, ...facts}, market.file)));
});
byId("payload-file").addEventListener("change", () => run(null, byId("payload-answer"), async () => {
  const [file] = byId("payload-file").files;
  if (!file) return [];
  const text = await sized(file, MAX_PAYLOAD_BYTES).text();
  if (/[\0\ufffd]/.test(text)) throw new Error(`${printable(file.name)} is not a text file.`);
  byId("payload").value = text;
  return [];
}));

// Proof ---------------------------------------------------------------------------------------------------------------

function proofParts({status, lines}) {
  const [verdict, kind] = [["Accepted", "good"], ["Rejected", "bad"], ["Not readable as a proof", "bad"]][status];
  const rest = lines.map(line => line.startsWith(verdict + ": ") ? line.slice(verdict.length + 2) : line);
  return [element("section", {class: "card stack", "aria-label": "Result"},
    element("h2", {class: "verdict " + kind}, verdict), list("Checker output", rest.map(sentence), "lines"))];
}

byId("proof-form").addEventListener("submit", event => {
  event.preventDefault();
  run(event.target, byId("proof-answer"), async () => {
    const [file] = byId("proof-file").files;
    if (!file) throw new Error("Choose a proof file first.");
    return proofParts(await python.call("check", {withLibrary: byId("with-library").checked}, sized(file, MAX_PROOF_BYTES)));
  });
});
byId("proof-file").addEventListener("change", () => byId("proof-form").requestSubmit());

// Start ---------------------------------------------------------------------------------------------------------------

async function start() {
  const {version, networks, embedded} = await python.call("about", {});
  byId("version").textContent = version;
  byId("market").prepend(...embedded.map(name => element("option", {value: name}, `${name}, built in`)));
  byId("market").value ||= embedded[0];
  byId("network").append(...networks.map(name => element("option", {value: name}, name)));
  if (!fileMarket) await loadMarket();
}

const started = start().catch(() => {}).finally(() => { busy -= 1; showState(); });  // the state says what is wrong
showState();
