const MAX_OPTIONS = 60;  // more is slower to read than to type a letter
const MAX_LARGE = 14;  // characters of the largest type that fit a line of a phone
const STATE_WORDS = {live: "read from a node", synced: "synced from a node", recorded: "recorded from the chain",
  modelled: "modelled, not live prices", synthetic: "synthetic, not real prices"};
const VERDICT_WORDS = {ok: "A node has rehearsed this swap, and a sale of what it buys: both work.",
  warn: "Think about this before you sign:"};

const byId = id => document.getElementById(id);
const form = byId("order"), result = byId("quote");
const REFRESH_S = 20;  // a route can be used for a minute, and a block takes 2 seconds or more
const MAX_UNATTENDED_S = 1800;  // without a sign of a person: forgotten pages cost a service nothing
let tokens = [], network = "", asking = new AbortController(), quoted = null, pictureWidth = 0, resizing;
let dueMs = 0, isPaused = false, isRefreshing = false, attendedMs = 0;
let following = null, hasNews = false, isFollowed = false, streamProblem = "";  // the open stream of the quote, and whether it has announced another one
const chainIds = new Map(), prices = new Map();

/** A text field with a list of tokens to choose from. `token` is the choice, null while there is none. */
class TokenPicker {
  constructor(id) {
    this.input = byId(id);
    this.list = byId(id + "-list");
    this.note = byId(id + "-note");
    this.token = null;
    this.matches = [];
    this.active = 0;
    this.input.addEventListener("input", () => { this.token = null; this.open(this.input.value); });
    this.input.addEventListener("click", () => this.open(""));
    this.input.addEventListener("focus", () => this.input.select());
    this.input.addEventListener("blur", () => this.leave());
    this.input.addEventListener("keydown", event => this.onKey(event));
  }

  get isOpen() { return !this.list.hidden; }

  choose(token) {
    this.token = token;
    this.input.value = token ? printable(token.symbol) : "";
    this.note.textContent = token ? token.address : "";
    this.input.removeAttribute("aria-invalid");
    this.close();
    showValue();
  }

  open(text) {
    this.matches = findTokens(text);
    this.active = Math.max(0, this.matches.indexOf(this.token));
    const rest = this.matches.length - MAX_OPTIONS;
    this.list.replaceChildren(...this.matches.slice(0, MAX_OPTIONS).map((token, index) => this.option(token, index)));
    if (!this.matches.length || rest > 0) {
      const words = rest > 0 ? `${rest} more: type to narrow the list` : "No token has this symbol, name or address";
      this.list.append(element("li", {role: "option", "aria-disabled": "true", class: "note"}, words));
    }
    this.list.hidden = false;
    this.input.setAttribute("aria-expanded", "true");
    this.mark();
  }

  option(token, index) {
    const node = element("li", {role: "option", id: `${this.list.id}-${index}`},
      nameOf(token.symbol), element("span", {class: "note"}, token.verified ? "" : "not on the network's list"),
      element("span", {class: "note"}, nameOf(token.name)),
      element("span", {class: "note mono"}, token.address.slice(0, 6) + "…" + token.address.slice(-4)));
    // pointerdown, since the field loses the focus before a click
    node.addEventListener("pointerdown", event => { event.preventDefault(); this.choose(token); });
    return node;
  }

  mark() {
    [...this.list.children].forEach((node, index) => node.setAttribute("aria-selected", String(index === this.active && !node.ariaDisabled)));
    const node = this.matches.length ? this.list.children[this.active] : null;
    if (node) this.input.setAttribute("aria-activedescendant", node.id);
    else this.input.removeAttribute("aria-activedescendant");
    node?.scrollIntoView({block: "nearest"});
  }

  close() {
    this.list.hidden = true;
    this.input.setAttribute("aria-expanded", "false");
    this.input.removeAttribute("aria-activedescendant");
  }

  /** Take a text that names one token; leave any other text for the check of the form. */
  leave() {
    if (!this.token && this.input.value.trim()) {
      const [first] = findTokens(this.input.value);
      if (first) this.choose(first);
    } else if (this.token) {
      this.input.value = printable(this.token.symbol);
    }
    if (!this.token) this.note.textContent = "";
    this.close();
  }

  onKey(event) {
    const last = Math.min(this.matches.length, MAX_OPTIONS) - 1;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      if (!this.isOpen) return this.open("");
      const step = event.key === "ArrowDown" ? 1 : -1;
      this.active = (this.active + step + last + 1) % (last + 1 || 1);
      this.mark();
    } else if (event.key === "Enter" && this.isOpen) {
      event.preventDefault();
      if (this.matches.length) this.choose(this.matches[this.active]);
    } else if (event.key === "Escape" && this.isOpen) {
      event.preventDefault();
      this.close();
    }
  }
}

const payer = new TokenPicker("in"), receiver = new TokenPicker("out");

/** Return the tokens that a text names, the closest first: by symbol, then name, then address. */
function findTokens(text) {
  const search = text.trim().toLowerCase();
  if (!search) return tokens;
  const rank = token => {
    const symbol = token.symbol.toLowerCase(), name = token.name.toLowerCase();
    if (symbol === search || token.address.toLowerCase() === search) return 0;
    if (symbol.startsWith(search)) return 1;
    if (name.startsWith(search)) return 2;
    if (symbol.includes(search) || name.includes(search)) return 3;
    return search.length > 3 && token.address.toLowerCase().startsWith(search) ? 4 : null;
  };
  return tokens.map(token => [rank(token), token]).filter(([place]) => place !== null)
    .sort(([one, a], [other, b]) => one - other || b.verified - a.verified).map(([, token]) => token);
}

/** Return the token of an address or of the only symbol; null if there is none. */
function tokenOf(text) {
  if (!text) return null;
  const same = tokens.filter(token => [token.address, token.symbol].some(each => each.toLowerCase() === text.toLowerCase()));
  return same.length === 1 ? same[0] : same.find(token => token.verified) ?? null;
}

function symbolOf(address) {
  const token = tokens.find(each => each.address.toLowerCase() === address.toLowerCase());
  return token ? nameOf(token.symbol) : element("span", {class: "mono"}, address);
}

async function loadNetworks() {
  const reply = await send("supported-chains", {headers: keyHeaders(byId("key").value)});
  const message = failure(reply);
  if (message) throw new Error(message);
  for (const {chain_name: name, chain_id: id} of reply.document) chainIds.set(name, id);
  byId("network").replaceChildren(...reply.document.map(({chain_name: name}) => element("option", {value: name}, printable(name))));
}

/** Load the tokens of a network and choose two of them. */
async function useNetwork(name, tokenIn = null, tokenOut = null) {
  byId("network").value = name;
  network = name;
  tokens = [];
  payer.choose(null);
  receiver.choose(null);
  const reply = await send(`${encodeURIComponent(name)}/tokens`, {headers: keyHeaders(byId("key").value)});
  if (network !== name) return;
  const message = failure(reply);
  if (message) throw new Error(message);
  tokens = reply.document.map(token => ({...token, decimals: Number(token.decimals), symbol: token.symbol ?? "", name: token.name ?? ""}));
  for (const token of tokens) prices.set(priceKey(token), Number(token.price ?? 0));
  const dollar = tokens.find(token => Math.abs(Number(token.price ?? 0) - 1) < 0.02 && token !== tokens[0]);
  payer.choose(tokenIn === null ? tokens[0] : tokenOf(tokenIn));
  receiver.choose(tokenOut === null ? dollar ?? tokens[1] : tokenOf(tokenOut));
}

function priceKey({address}) {
  return `${network} ${address.toLowerCase()}`;
}

/** Say below the amount what it is in tokens, if it is written otherwise, and in dollars. */
function showValue() {
  const text = byId("amount").value, token = payer.token, price = token && prices.get(priceKey(token));
  byId("value").textContent = "";
  if (!token || !text.trim()) return;
  try {
    const {isUsd, isPlain} = readAmount(text), units = parseAmount(text, token.decimals, price || null);
    const inTokens = isPlain ? "" : `${isUsd ? "about " : ""}${formatAmount(isUsd ? roughly(units) : units, token.decimals)} ${printable(token.symbol)}`;
    byId("value").textContent = [inTokens, isUsd ? "" : formatDollars(units, token.decimals, price)].filter(Boolean).join(", ");
  } catch { /* said when a quote is requested */ }
}

/** Return an amount with its first six digits only. */
function roughly(units) {
  const scale = 10n ** BigInt(Math.max(0, units.toString().length - 6));
  return units / scale * scale;
}

/** Return the market's price of a token in USD as the command finds it: that of a small sale. Null if there is none. */
async function readPrice(order, signal) {
  for (const whole of [1n, 10n ** 6n]) {
    const query = orderQuery({...order, amount: whole * 10n ** BigInt(order.tokenIn.decimals)});
    const reply = await send(`${encodeURIComponent(order.network)}/route?${query}`, {headers: keyHeaders(byId("key").value), signal});
    if (!failure(reply)) return Number(reply.document.inputToken.price ?? 0) || null;
    if (whole > 1n) throw new Error(failure(reply));
  }
  return null;
}

/** Return the order in the form; an amount in dollars is null until its price is given. Throws an Error with a sentence, and marks the field that has to change. */
function readOrder(priceUsd) {
  for (const field of form.querySelectorAll("[aria-invalid]")) field.removeAttribute("aria-invalid");
  const check = (field, read) => {
    try {
      return read();
    } catch (error) {
      field.setAttribute("aria-invalid", "true");
      field.focus();
      throw error;
    }
  };
  const chosen = picker => check(picker.input, () => {
    if (!picker.token) throw new Error(picker.input.value ? "No such token here: choose one from the list." : "Choose a token.");
    return picker.token;
  });
  const tokenIn = chosen(payer), tokenOut = chosen(receiver);
  const amount = check(byId("amount"), () => {
    const text = byId("amount").value;
    return priceUsd === undefined && readAmount(text).isUsd ? null : parseAmount(text, tokenIn.decimals, priceUsd);
  });
  const slippage = check(byId("slippage"), () => parseSlippage(byId("slippage").value));
  return {network, tokenIn, tokenOut, amount, slippage, direct: byId("direct").checked};
}

/** Return the query of the route endpoint, and of the picture. */
function orderQuery({tokenIn, tokenOut, amount, slippage, direct}) {
  const query = new URLSearchParams({amount: String(amount), tokenInAddress: tokenIn.address, tokenOutAddress: tokenOut.address, slippage, shares: "fine"});
  if (direct) query.set("direct", "true");
  return query;
}

/** Return the link that reproduces an order. It contains no key and no recipient. */
function linkOf({network: name, tokenIn, tokenOut, amount, slippage, direct}) {
  const link = new URL("./", document.baseURI);
  link.search = new URLSearchParams({network: name, in: tokenIn.address, out: tokenOut.address,
    amount: formatAmount(amount, tokenIn.decimals).replaceAll(",", ""), slippage, ...(direct ? {direct: "true"} : {})});
  return link;
}

async function quote({keepsLink = false} = {}) {
  asking.abort();
  asking = new AbortController();
  const {signal} = asking, key = byId("key").value;
  byId("error").textContent = "";
  try {
    let order = readOrder();
    stopRefreshing();
    if (order.amount === null) order = readOrder(await readPrice(order, signal));
    const link = linkOf(order);
    if (!keepsLink && link.href !== location.href) history.pushState(null, "", link);
    setStatus("Searching the best route …");
    result.classList.add("old");
    const reply = await requestQuote(order, key, signal);
    const message = failure(reply);
    if (reply.response.status === 401 || reply.response.status === 429) byId("more").open = true;
    if (message) throw new Error(message);
    quoted = {order, route: reply.document};
    isFollowed = isLive(quoted.route);
    show(quoted, reply.response.headers);
    startRefreshing();
    if (!keepsLink && result.getBoundingClientRect().top > innerHeight / 2) result.scrollIntoView();
    await drawPicture(order, signal);
  } catch (error) {
    if (error.name === "AbortError") return;
    setStatus("");
    result.hidden = true;
    byId("error").textContent = error.message;
  }
}

function requestQuote(order, key, signal) {
  const query = orderQuery(order);
  query.set("details", "true");
  return send(`${encodeURIComponent(order.network)}/route?${query}`, {headers: keyHeaders(key), signal});
}

function startRefreshing() {
  isPaused = false;
  attendedMs = performance.now();
  dueMs = performance.now() + 1000 * REFRESH_S;
  showCountdown();
  follow();
}

function stopRefreshing() {
  dueMs = 0;
  stopFollowing();
}

function stopFollowing() {
  following?.abort();
  following = null;
}

/** Have the service say when the quote changes, if its state follows a chain. Where it does not, and where the stream fails, the quote is refreshed by the clock. */
async function follow() {
  if (following || !isFollowed || isPaused || document.hidden) return;
  const own = following = new AbortController(), {order} = quoted, query = orderQuery(order);
  query.delete("slippage");
  hasNews = false;
  streamProblem = "";
  let isOpen = false;
  try {
    const url = `${encodeURIComponent(order.network)}/v2/route/events?${query}`;
    await readEvents(url, {headers: keyHeaders(byId("key").value), signal: own.signal}, (name, data) => {
      if (own !== following) return;
      if (name === "quote" && (isOpen || data.quote.outputAmount !== quoted.route.outputAmount)) hasNews = true;
      isOpen = true;
      streamProblem = name === "unavailable" ? "No quote at present. " + sentence(data.message) : "";
      result.classList.toggle("old", streamProblem !== "");
      showCountdown();
      tick();
    });
  } catch { /* refreshed by the clock */ }
  if (own !== following) return;
  following = null;
  isFollowed = isOpen;  // one that ended is opened again after the next refresh, one that was refused is not
  dueMs = performance.now() + 1000 * REFRESH_S;
  if (!isPaused) showCountdown();
}

/** Keep the quote as it is, and say why. */
function pauseRefreshing(reason) {
  isPaused = true;
  stopFollowing();
  showCountdown(reason);
}

function showCountdown(text) {
  const words = byId("countdown"), button = byId("pause");
  if (!words) return;
  const seconds = Math.max(0, Math.ceil((dueMs - performance.now()) / 1000));
  if (text !== undefined || !isPaused) words.textContent = text ?? (isRefreshing ? "Refreshing …" : following ? streamProblem || "Live: follows every block" : `New quote in ${seconds} s`);
  button.textContent = isPaused ? "Refresh" : "Pause";
}

/** Act once a second: count down, and refresh a quote that people look at. */
function tick() {
  if (document.hidden) return stopFollowing();
  if (!dueMs || isPaused || isRefreshing || result.hidden) return;
  if (performance.now() - attendedMs > 1000 * MAX_UNATTENDED_S) return pauseRefreshing("Paused, as no one was here.");
  if (following ? !hasNews : performance.now() < dueMs) return showCountdown();
  refresh();
}

/** Quote the order of the page again, and replace the figures where they stand, so that focus and fields stay. */
async function refresh() {
  const {signal} = asking, {order, route} = quoted;
  isRefreshing = true;
  hasNews = false;
  showCountdown();
  let problem = null;
  try {
    const reply = await requestQuote(order, byId("key").value, signal);
    problem = failure(reply);
    if (problem === null && !isPaused) {
      quoted = {order, route: reply.document};
      showFigures(quoted, reply.response.headers);
      if (JSON.stringify(reply.document.route) !== JSON.stringify(route.route)) await drawPicture(order, signal);
    }
  } catch (error) {
    if (error.name !== "AbortError") problem = error.message;
  } finally {
    isRefreshing = false;
  }
  if (signal.aborted || isPaused) return;
  dueMs = performance.now() + 1000 * REFRESH_S;
  if (problem === null) {
    showCountdown();
    return follow();
  }
  result.classList.add("old");
  pauseRefreshing("Not refreshed. " + problem);
}

function pauseOrRefresh() {
  if (!isPaused) return pauseRefreshing("Paused.");
  isPaused = false;
  attendedMs = performance.now();
  if (byId("transaction").querySelector("textarea")) clearTransaction();
  isFollowed = isLive(quoted.route);
  refresh();
}

/** Return whether the state of a quote changes by itself. */
function isLive(route) {
  return ["live", "synced"].includes(route.state?.kind);
}

async function drawPicture(order, signal) {
  const url = `${encodeURIComponent(order.network)}/route.svg?${orderQuery(order)}`;
  pictureWidth = byId("picture").clientWidth;
  await showPicture(byId("picture"), url, byId("key").value, "The route as a picture. The list of pools below has the same facts.", signal);
}

/** Draw the picture again where the window has become much wider or narrower, since its text would be too large or small. */
async function redrawPicture() {
  const figure = byId("picture");
  if (result.hidden || !figure || Math.abs(figure.clientWidth / pictureWidth - 1) < 0.25) return;
  await drawPicture(quoted.order, asking.signal).catch(() => {});
}

/** Set the text that screen readers announce; a hidden one repeats what the page shows. */
function setStatus(text, {isHidden = false} = {}) {
  byId("status").textContent = text;
  byId("status").classList.toggle("quiet-status", isHidden);
}

/** Show a quote: its figures, warnings, pools, and the form for its transaction. */
function show({order, route}, headers) {
  result.hidden = false;
  result.replaceChildren(
    element("div", {class: "card stack"},
      element("div", {class: "head"},
        element("h2", {id: "received-label", class: "note"}),
        element("p", {id: "received"}),
        element("p", {class: "note"}, `for ${formatAmount(order.amount, order.tokenIn.decimals)} `, nameOf(order.tokenIn.symbol), ` on ${order.network}`),
        element("p", {id: "worth", class: "note"}),
        element("div", {class: "note countdown"}, element("span", {id: "countdown", role: "timer"}),
          element("button", {id: "pause", type: "button", class: "quiet small", onclick: pauseOrRefresh}, "Pause")),
        element("div", {class: "actions"}, copyButton("Copy link", () => linkOf(order).href), copyButton("Copy JSON", () => JSON.stringify(quoted.route, null, 2)))),
      element("div", {id: "warned"}),
      element("dl", {id: "figures"})),
    element("div", {class: "card stack"},
      element("h2", {}, "Route"),
      element("figure", {id: "picture", class: "picture"}),
      element("details", {}, element("summary", {id: "pool-count"}), element("div", {id: "pools"}))),
    transactionForm());
  showFigures({order, route}, headers);
}

/** Show what changes with every quote of an order. */
function showFigures({order, route}, headers) {
  const {tokenIn, tokenOut} = order, received = formatAmount(route.outputAmount, tokenOut.decimals);
  for (const [token, priced] of [[tokenIn, route.inputToken], [tokenOut, route.outputToken]]) {
    if (priced?.price) prices.set(priceKey(token), Number(priced.price));
  }
  showValue();
  const words = `${formatAmount(order.amount, tokenIn.decimals)} ${printable(tokenIn.symbol)} on ${order.network} pays ${received} ${printable(tokenOut.symbol)}.`;
  if (byId("status").textContent !== words) setStatus(words, {isHidden: true});
  result.classList.remove("old");
  const kind = stateKind(route, headers), isModelled = kind === "modelled" || kind === "synthetic";
  byId("received-label").textContent = isModelled ? `You receive, at ${kind} prices` : "You receive";
  byId("received").className = ["received", received.length > MAX_LARGE ? "long" : "", isModelled ? "modelled" : ""].filter(Boolean).join(" ");
  byId("received").replaceChildren(received + " ", element("span", {class: "unit"}, nameOf(tokenOut.symbol)));
  byId("worth").textContent = formatDollars(BigInt(route.outputAmount), tokenOut.decimals, prices.get(priceKey(tokenOut)));
  const warnings = listWarnings(route, headers);
  byId("warned").replaceChildren(...warnings.length ? [element("ul", {class: "warnings", "aria-label": "Warnings"}, ...warnings.map(text => element("li", {}, text)))] : []);
  byId("figures").replaceChildren(...figures(order, route, headers));
  byId("pool-count").textContent = `All pools: ${countPools(route.route)}`;
  byId("pools").replaceChildren(listPaths(route.route));
  if (byId("consents")) showConsents(byId("consents"));
}

function listWarnings(route, headers) {
  if (route.warnings) return route.warnings.map(({message}) => sentence(message));
  return (headers.get("X-Swap-Warnings") ?? "").split(", ").filter(Boolean).map(printable);
}

/** How gas was converted to the output token, by its source. */
const gasValues = {midPrices: "at mid prices", bestPath: "at the price of the best path", service: "at the prices of a service"};

/** Return the figures of a quote as rows of a description list. Unknown ones are left out. */
function figures({tokenIn, tokenOut, amount}, route, headers) {
  const rows = [], pays = units => element("span", {}, formatAmount(units, tokenOut.decimals) + " ", nameOf(tokenOut.symbol));
  const add = (name, ...values) => rows.push(element("div", {}, element("dt", {}, name), element("dd", {}, ...values)));
  const small = (...children) => element("small", {}, ...children);
  const output = BigInt(route.outputAmount), unit = token => 10n ** BigInt(token.decimals);
  if (route.minReceived !== undefined) add("At least", pays(route.minReceived), small(`with ${route.slippage}% slippage`));
  if (output > 0n) {
    add("Rate", element("span", {}, "1 ", nameOf(tokenIn.symbol), ` = ${formatRatio(output * unit(tokenIn), amount * unit(tokenOut))} `, nameOf(tokenOut.symbol)),
      small("1 ", nameOf(tokenOut.symbol), ` = ${formatRatio(amount * unit(tokenOut), output * unit(tokenIn))} `, nameOf(tokenIn.symbol)));
  }
  if (typeof route.priceImpact === "number") add("Price impact", `${route.priceImpact}%`);
  const units = route.gasUnits ?? route.estimatedGasUsed, dollars = route.gasUsd ?? route.estimatedGasUsedInUsd;
  add("Gas", `${group(units)} units`, typeof dollars === "number" ? small("$" + dollars.toPrecision(3)) : null);
  if (route.outputNetOfGas) add("Output less gas", pays(route.outputNetOfGas), small(gasValues[route.gasValueSource] ?? ""));
  if (route.bestSinglePath) {
    const {amount: single, gainBps} = route.bestSinglePath;
    if (single === null) add("Best single path", "none fills the order");
    else add("Best single path", pays(single), small(`this quote: ${gainBps < 0 ? "" : "+"}${gainBps.toFixed(1)} bps`));
  }
  add("Pool state", ...stateWords(route, headers));
  if (route.expiresAt) add("Use before", new Date(route.expiresAt * 1000).toISOString().slice(11, 19) + " UTC");
  return rows;
}

/** Return the kind of the pool state, such as "live" or "modelled". */
function stateKind({state}, headers) {
  return state?.kind ?? (headers.get("X-Swap-State") ?? "").split(";")[0];
}

/** Return the pool state in words: what it is, its block, and its age. */
function stateWords(route, headers) {
  const {state} = route, [, ...facts] = (headers.get("X-Swap-State") ?? "").split(";"), reported = Object.fromEntries(facts.map(fact => fact.split("=")));
  const name = stateKind(route, headers), block = state?.block ?? reported.block, age = state?.ageS ?? reported.age;
  const parts = [block === undefined || block === null ? null : `block ${group(block)}`, age === undefined || age === null ? null : `${group(age)} s old`];
  const known = parts.filter(Boolean).join(", ");
  return [STATE_WORDS[name] ?? (printable(name) || "unknown"), known ? element("small", {}, known) : null];
}

function listPaths(route) {
  const poolItem = swap => element("li", {}, nameOf(swap.poolName), ` ${swap.percent} `, element("span", {class: "note mono"}, swap.poolAddress));
  const hop = swaps => element("div", {}, symbolOf(swaps[0].fromTokenAddress), " → ", symbolOf(swaps[0].toTokenAddress),
    element("ul", {}, ...swaps.map(poolItem)));
  return element("ol", {class: "paths"}, ...route.map(segment =>
    element("li", {}, element("strong", {}, `${segment.percent} of the input`), ...segment.swaps.map(hop))));
}

/** Return what needs consent before a transaction is built, as the command needs an option: its words for a box and a refusal. */
function findConsents({order: {slippage}, route: {priceImpact}}) {
  const found = [], {maxSlippage, maxImpact} = form.dataset;
  if (Number(slippage) > Number(maxSlippage)) {
    found.push({name: "slippage", label: `The swap may pay ${slippage}% less than the quote`,
      refusal: `${slippage} is ${slippage} percent, above ${maxSlippage}: tick the box to accept it, or write ${slippage}bps for basis points.`});
  }
  if (priceImpact > Number(maxImpact)) {
    found.push({name: "impact", label: `The order moves the price so far that it pays ${priceImpact}% too little`,
      refusal: `The price impact of ${priceImpact}% is above ${maxImpact}%: tick the box to accept it, or sell less.`});
  }
  return found;
}

/** Return the form that asks for a recipient, and for consent to what is unusual, and shows the transaction. */
function transactionForm() {
  const recipient = element("input", {id: "recipient", autocomplete: "off", spellcheck: "false", "aria-describedby": "recipient-note", placeholder: "0x…"});
  const answer = element("div", {class: "stack", "aria-live": "polite"}), boxes = element("div", {id: "consents"});
  const submit = event => { event.preventDefault(); build(recipient, boxes, answer); };
  const node = element("section", {id: "transaction", class: "card stack", "aria-labelledby": "transaction-label"},
    element("h2", {id: "transaction-label"}, "Transaction"),
    element("form", {onsubmit: submit, novalidate: ""},
      element("div", {},
        element("label", {for: "recipient"}, "Recipient of the output"), recipient,
        element("p", {id: "recipient-note", class: "note"}, "It is not part of the link.")),
      boxes,
      element("div", {}, element("button", {class: "quiet"}, "Build transaction"))),
    answer);
  showConsents(boxes);
  return node;
}

/** Take away a transaction, which is not that of the next quote. */
function clearTransaction() {
  const recipient = byId("recipient").value;
  byId("transaction").replaceWith(transactionForm());
  byId("recipient").value = recipient;
}

/** Show a box for each thing that needs consent; one that was ticked stays so. */
function showConsents(boxes) {
  const ticked = new Set([...boxes.querySelectorAll("input:checked")].map(box => box.id));
  boxes.replaceChildren(...findConsents(quoted).map(({name, label}) => {
    const id = "consent-" + name, box = element("input", {id, type: "checkbox"});
    box.checked = ticked.has(id);
    return element("label", {class: "check"}, box, label);
  }));
}

/** Build the transaction of the quote on the page, and show it. */
async function build(recipient, boxes, answer) {
  pauseRefreshing("Paused: the transaction below is of this quote.");
  const {order, route} = quoted;
  const missing = findConsents(quoted).find(({name}) => !byId("consent-" + name)?.checked);
  if (missing) {
    answer.replaceChildren(element("p", {class: "bad"}, missing.refusal));
    showConsents(boxes);
    byId("consent-" + missing.name).focus();
    return;
  }
  const body = JSON.stringify({route, slippage: Number(order.slippage), destination: recipient.value.trim(), details: true});
  answer.replaceChildren(element("p", {class: "note"}, "Building …"));
  try {
    const reply = await send(`${encodeURIComponent(order.network)}/calldata`,
      {method: "POST", headers: {"Content-Type": "application/json", ...keyHeaders(byId("key").value)}, body});
    const message = failure(reply);
    if (message) throw new Error(message);
    answer.replaceChildren(...newWarnings(route, reply.response.headers), ...judged(reply.document.verdict, payload(reply.document, order)));
  } catch (error) {
    answer.replaceChildren(element("p", {class: "bad"}, error.message));
  }
}

/** Return the warnings of a transaction that its quote did not have. */
function newWarnings(route, headers) {
  const known = (route.warnings ?? []).map(({code}) => code), words = {RECIPIENT_BURNS: "The recipient has no key: what it receives is burned."};
  const codes = (headers.get("X-Swap-Warnings") ?? "").split(",").map(warning => warning.split(";")[0].trim());
  return codes.filter(code => code && !known.includes(code)).map(code => element("p", {class: "bad"}, words[code] ?? printable(code)));
}

/** Return the verdict of a node on a transaction, and its fields; if the verdict blocks it, they follow a tick. */
function judged(verdict, fields) {
  if (!verdict) return [element("p", {class: "note"}, "No node has checked this transaction."), ...fields];
  const isWorst = reason => reason.status === "block";
  const reasons = [...verdict.reasons].sort((one, other) => isWorst(other) - isWorst(one))
    .map(({message, hint}) => element("li", {}, sentence(message), " ", sentence(hint)));
  const list = reasons.length ? element("ul", {class: "warnings", "aria-label": "Reasons"}, ...reasons) : null;
  const words = VERDICT_WORDS[verdict.status];
  if (words) return [element("p", {class: "note"}, words), list, ...fields].filter(Boolean);
  const shown = element("div", {class: "stack"}), box = element("input", {id: "override", type: "checkbox"});
  box.addEventListener("change", () => shown.replaceChildren(...box.checked ? fields : []));
  return [element("p", {class: "bad"}, "Do not sign this transaction."), list,
    element("label", {class: "check"}, box, "Show it all the same"), shown].filter(Boolean);
}

/** Return the fields of a transaction, each to copy. Starknet has the felts of a call instead. */
function payload(document, {tokenIn, tokenOut, amount}) {
  if (Array.isArray(document)) return [copyField("Calldata (felts)", JSON.stringify(document))];
  const minimum = document.route?.min_received, isNative = document.value !== "0";
  return [
    minimum === undefined ? null : element("p", {}, `It pays at least ${formatAmount(minimum, tokenOut.decimals)} `, nameOf(tokenOut.symbol), ", or reverts."),
    isNative ? null : element("p", {class: "note"}, "First approve the contract below to spend ",
      `${formatAmount(amount, tokenIn.decimals)} `, nameOf(tokenIn.symbol), "."),
    copyField("To", document.to), copyField("Value in wei", document.value), copyField("Calldata", document.calldata),
    copyField("Commands of cast", castCommands(document, tokenIn, amount, isNative)),
  ].filter(Boolean);
}

/** Return the transactions as commands of `cast`, one a line: the approval of a token, and the swap. */
function castCommands(document, tokenIn, amount, isNative) {
  const chainId = chainIds.get(quoted.order.network);
  const approval = {to: tokenIn.address, value: "0", calldata: encodeApproval(document.to, amount)};
  return [...isNative ? [] : [approval], document].map(each => castCommand(chainId, each)).join("\n");
}

function copyField(label, text) {
  const id = "payload-" + label.toLowerCase().replace(/\W+/g, "-"), rows = text.length > 200 ? "6" : text.length > 70 ? "2" : "1";
  const area = element("textarea", {id, readonly: "", rows, spellcheck: "false"});
  area.value = text;
  return element("div", {}, element("div", {class: "copy"}, element("label", {for: id}, label), copyButton("Copy", () => text)), area);
}

/** Fill the form from the link, or with the default order, and quote it. */
async function followLink() {
  const link = new URLSearchParams(location.search), name = link.get("network") ?? byId("network").options[0]?.value;
  byId("amount").value = link.get("amount") ?? "1";
  byId("slippage").value = link.get("slippage") ?? "0.5";
  byId("direct").checked = link.get("direct") === "true";
  byId("error").textContent = "";
  try {
    if (![...byId("network").options].some(option => option.value === name)) throw new Error(`This service has no network ${printable(name)}.`);
    await useNetwork(name, link.get("in"), link.get("out"));
  } catch (error) {
    byId("error").textContent = error.message;
    return;
  }
  await quote({keepsLink: true});
}

form.addEventListener("submit", event => { event.preventDefault(); quote(); });
byId("network").addEventListener("change", () => {
  useNetwork(byId("network").value).catch(error => { byId("error").textContent = error.message; });
});
byId("turn").addEventListener("click", () => {
  const [one, other] = [payer.token, receiver.token];
  payer.choose(other);
  receiver.choose(one);
});
byId("amount").addEventListener("input", showValue);
addEventListener("popstate", followLink);
for (const event of ["pointerdown", "keydown"]) addEventListener(event, () => { attendedMs = performance.now(); });
document.addEventListener("visibilitychange", tick);
setInterval(tick, 1000);
addEventListener("resize", () => {
  clearTimeout(resizing);
  resizing = setTimeout(redrawPicture, 300);
});
loadNetworks().then(followLink).catch(error => { byId("error").textContent = error.message; });
