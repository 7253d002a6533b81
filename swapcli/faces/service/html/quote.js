const MAX_OPTIONS = 60;  // more is slower to read than to type a letter
const MAX_LARGE = 14;  // characters of the largest type that fit a line of a phone
const UNREAL = ["modelled", "synthetic"];
const LOCAL_HOSTS = ["localhost", "127.0.0.1", "[::1]"];
const PRESETS = ["0.1", "0.5", "1"];
const MAX_MOVE_PERCENT = 0.1;  // of a price between a transaction and its decoding
const VERDICT_WORDS = {ok: "A node simulated this swap and then a sale of the bought tokens. Both succeeded.", warn: "Check this before you sign:"};

const byId = id => document.getElementById(id);
const form = byId("order"), result = byId("quote");
const REFRESH_S = 20;  // a route can be used for a minute, and a block takes 2 seconds or more
const ROUTE_LIFE_S = 60;  // of a service that does not say when a quote expires
const MAX_UNATTENDED_S = 1800;  // without a sign of a person: forgotten pages cost a service nothing
let tokens = [], network = "", asking = new AbortController(), quoted = null, pictureWidth = 0, resizing;
let dueMs = 0, isPaused = false, isRefreshing = false, attendedMs = 0;
let following = null, hasNews = false, isFollowed = false, streamProblem = "";  // the open stream of the quote, and whether it announced a new one
let advised = {};  // the advised slippage and its reasons
let built = null;  // the transaction on the page: {transaction, recipient, account, controls}
let balanceRead = 0;  // counts reads of the balance: only the newest one is shown
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
    this.note.replaceChildren(...!token ? [] : isNativeToken(token) ? ["native token"] : [shortAddress(token.address)]);
    this.input.removeAttribute("aria-invalid");
    this.close();
    showValue();
    showBalance();
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
      element("span", {class: "note mono"}, shortText(token.address)));
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
    if (!this.token) this.note.replaceChildren();
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
  return token ? nameOf(token.symbol) : shortAddress(address);
}

async function loadNetworks() {
  const reply = await send("supported-chains", {headers: keyHeaders(byId("key").value)});
  const message = failure(reply);
  if (reply.response.status === 401) byId("more").open = true;
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

/** Show below the amount its value in dollars, and in tokens if it is written otherwise. */
function showValue() {
  const text = byId("amount").value, token = payer.token, price = token && prices.get(priceKey(token));
  byId("value").textContent = "";
  if (!token || !text.trim()) return;
  try {
    const {isUsd, isPlain} = readAmount(text), units = parseAmount(text, token.decimals, price || null);
    const inTokens = isPlain ? "" : `${isUsd ? "about " : ""}${formatAmount(isUsd ? roughly(units) : units, token.decimals)} ${printable(token.symbol)}`;
    byId("value").textContent = [inTokens, isUsd ? "" : formatDollars(units, token.decimals, price)].filter(Boolean).join(", ");
  } catch { /* shown when a quote is requested */ }
}

/** Return an amount with its first six digits only. */
function roughly(units) {
  const scale = 10n ** BigInt(Math.max(0, units.toString().length - 6));
  return units / scale * scale;
}

/** Return the market's price of a token in USD, as the command finds it: by a small sale. Null if there is none. */
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
    if (!picker.token) throw new Error(picker.input.value ? "No token has this name. Choose one from the list." : "Choose a token.");
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
    setStatus("Searching …");
    result.classList.add("old");
    const reply = await requestQuote(order, key, signal);
    const message = failure(reply);
    if (reply.response.status === 401 || reply.response.status === 429) byId("more").open = true;
    if (message) throw new Error(message);
    quoted = timed(order, reply);
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

/** Return a quote with the time that is left to use it, by the service's clock. */
function timed(order, {document: route, response}) {
  const nowS = Date.parse(response.headers.get("Date") ?? "") / 1000 || Date.now() / 1000;
  return {order, route, lifeS: route.expiresAt ? route.expiresAt - nowS : ROUTE_LIFE_S, readAt: [Date.now(), performance.now()]};
}

/** Return the seconds for which a quote can be used. Of two clocks the faster one counts: one may be set back, the other may sleep. */
function secondsLeft({lifeS, readAt: [wallMs, monotonicMs]}) {
  return Math.max(0, Math.floor(lifeS - Math.max(Date.now() - wallMs, performance.now() - monotonicMs) / 1000));
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

/** Follow the quote by the service's stream, if its state follows a chain. Without a stream the quote is refreshed by the clock. */
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
      streamProblem = name === "unavailable" ? "No quote is available now. " + sentence(data.message) : "";
      result.classList.toggle("old", streamProblem !== "");
      showCountdown();
      tick();
    });
  } catch { /* refreshed by the clock */ }
  if (own !== following) return;
  following = null;
  isFollowed = isOpen;  // one that ended is opened again after the next refresh, one that was rejected is not
  dueMs = performance.now() + 1000 * REFRESH_S;
  if (!isPaused) showCountdown();
}

/** Keep the quote as it is, and show the reason. */
function pauseRefreshing(reason) {
  isPaused = true;
  stopFollowing();
  showCountdown(reason);
}

function showCountdown(text) {
  const words = byId("countdown"), button = byId("pause");
  if (!words) return;
  const seconds = Math.max(0, Math.ceil((dueMs - performance.now()) / 1000));
  if (text !== undefined || !isPaused) words.textContent = text ?? (isRefreshing ? "Refreshing …" : following ? streamProblem || "Live: a new quote at every block" : `New quote in ${seconds} s`);
  button.textContent = isPaused ? "Refresh" : "Pause";
}

/** Act once a second: count down, and refresh a quote that people look at. */
function tick() {
  if (built) showLife();
  if (document.hidden) return stopFollowing();
  if (!dueMs || isPaused || isRefreshing || result.hidden) return;
  if (performance.now() - attendedMs > 1000 * MAX_UNATTENDED_S) return pauseRefreshing("Paused while the page was idle.");
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
      quoted = timed(order, reply);
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
  clearTransaction();
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
  await showPicture(byId("picture"), url, byId("key").value, "A picture of the route. The list of pools below gives the same information.", signal);
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

/** Show a quote: the result, the step to its swap, and the route. */
function show({order, route}, headers) {
  built = null;
  result.hidden = false;
  result.replaceChildren(
    element("div", {class: "card stack"},
      element("div", {class: "head"},
        element("div", {class: "ends"}, element("h2", {id: "received-label"}), element("p", {id: "state"})),
        element("p", {id: "received"}),
        element("ul", {id: "facts", "aria-label": "Figures"})),
      element("div", {id: "warned"}),
      element("div", {class: "note countdown"}, element("span", {id: "countdown", role: "timer"}),
        element("button", {id: "pause", type: "button", class: "quiet small", onclick: pauseOrRefresh}, "Pause"),
        copyButton("Copy link", () => linkOf(order).href), copyButton("Copy JSON", () => JSON.stringify(quoted.route, null, 2))),
      element("details", {}, element("summary", {}, "Exact figures"), element("dl", {id: "figures"}))),
    swapSection({order, route}, headers),
    element("div", {class: "card stack"},
      element("h2", {}, "Route"),
      element("figure", {id: "picture", class: "picture"}),
      element("details", {}, element("summary", {id: "pool-count"}), element("div", {id: "pools"}))));
  showFigures({order, route}, headers);
}

/** Show what changes with every quote of an order. */
function showFigures({order, route}, headers) {
  const {tokenIn, tokenOut} = order, received = shortAmount(route.outputAmount, tokenOut.decimals);
  for (const [token, priced] of [[tokenIn, route.inputToken], [tokenOut, route.outputToken]]) {
    if (priced?.price) prices.set(priceKey(token), Number(priced.price));
  }
  showValue();
  const paid = `${formatAmount(order.amount, tokenIn.decimals)} ${printable(tokenIn.symbol)}`, isReal = !UNREAL.includes(stateKind(route, headers));
  const words = `${paid} buys ${received} ${printable(tokenOut.symbol)} on ${order.network}.`;
  if (byId("status").textContent !== words) setStatus(words, {isHidden: true});
  result.classList.remove("old");
  byId("received-label").replaceChildren(`${formatAmount(order.amount, tokenIn.decimals)} `, nameOf(tokenIn.symbol), ` on ${order.network} →`);
  byId("state").textContent = stateWords(route, headers);
  byId("received").className = ["received", received.length > MAX_LARGE ? "long" : "", isReal ? "" : "modelled"].filter(Boolean).join(" ");
  byId("received").replaceChildren(received + " ", element("span", {class: "unit"}, nameOf(tokenOut.symbol)));
  byId("facts").replaceChildren(...facts(order, route).map(parts => element("li", {}, ...parts)));
  const warnings = listWarnings(route, headers);
  byId("warned").replaceChildren(...warnings.length ? [element("ul", {class: "warnings", "aria-label": "Warnings"}, ...warnings.map(text => element("li", {}, text)))] : []);
  byId("figures").replaceChildren(...figures(order, route));
  byId("pool-count").textContent = `All pools: ${countPools(route.route)}`;
  byId("pools").replaceChildren(listPaths(route.route));
  if (byId("consents")) showConsents(byId("consents"));
  if (isReal !== Boolean(byId("review"))) clearTransaction(headers);
}

function listWarnings(route, headers) {
  if (!route.warnings) return (headers.get("X-Swap-Warnings") ?? "").split(", ").filter(Boolean).map(printable);
  return route.warnings.filter(({code}) => !["STATE_MODELLED", "STATE_SYNTHETIC"].includes(code)).map(({message}) => sentence(message));
}

/** Return the figures that everybody reads, each as parts of a list item. Unknown ones are left out. */
function facts({tokenIn, tokenOut, amount}, route) {
  const output = BigInt(route.outputAmount), unit = token => 10n ** BigInt(token.decimals), found = [];
  const value = formatDollars(output, tokenOut.decimals, prices.get(priceKey(tokenOut)));
  if (value) found.push([value]);
  if (route.minReceived !== undefined) found.push(["at least ", element("strong", {}, shortAmount(route.minReceived, tokenOut.decimals))], [`${route.slippage}% slippage`]);
  if (output > 0n) {
    const [numerator, denominator] = [output * unit(tokenIn), amount * unit(tokenOut)], isBelowOne = numerator < denominator;
    const [one, other] = isBelowOne ? [tokenOut, tokenIn] : [tokenIn, tokenOut];
    found.push(["1 ", nameOf(one.symbol), ` = ${isBelowOne ? formatRatio(denominator, numerator, SHORT_DIGITS) : formatRatio(numerator, denominator, SHORT_DIGITS)} `, nameOf(other.symbol)]);
  }
  if (typeof route.priceImpact === "number") found.push([`impact ${formatPercent(route.priceImpact)}`]);
  const dollars = route.gasUsd ?? route.estimatedGasUsedInUsd;
  found.push([typeof dollars === "number" ? `gas $${dollars >= 0.01 ? dollars.toFixed(2) : dollars.toPrecision(2)}` : `gas ${group(route.gasUnits ?? route.estimatedGasUsed)} units`]);
  if (route.singlePath) found.push([singlePathWords(route.singlePath)]);
  return found;
}

function singlePathWords({outputAmount, gainBps}) {
  if (outputAmount === null) return "no single path can fill the order";
  if (gainBps < 0) return `single path ${(-gainBps).toFixed(2)} bps more before gas`;
  return gainBps ? `single path ${gainBps >= 0.01 ? gainBps.toFixed(2) : "<0.01"} bps less` : "a single path";
}

function formatPercent(percent) {
  return percent && Math.abs(percent) < 0.01 ? "<0.01%" : `${percent.toFixed(2)}%`;
}

/** Return the exact figures of a quote as rows of a description list. Unknown ones are left out. */
function figures({tokenIn, tokenOut, amount}, route) {
  const rows = [], pays = units => element("span", {}, formatAmount(units, tokenOut.decimals) + " ", nameOf(tokenOut.symbol));
  const add = (name, value) => rows.push(element("div", {}, element("dt", {}, name), element("dd", {}, value)));
  add("Input", element("span", {}, `${formatAmount(amount, tokenIn.decimals)} `, nameOf(tokenIn.symbol)));
  add("Output", pays(route.outputAmount));
  if (route.minReceived !== undefined) add("At least", pays(route.minReceived));
  if (route.outputAfterGas) add("After gas", pays(route.outputAfterGas));
  if (route.singlePath?.outputAmount) add("Single path", pays(route.singlePath.outputAmount));
  add("Gas", `${group(route.gasUnits ?? route.estimatedGasUsed)} units`);
  if (route.expiresAt) add("Use before", new Date(route.expiresAt * 1000).toISOString().slice(11, 19) + " UTC");
  return rows;
}

/** Return the kind of the state, such as "live" or "modelled". */
function stateKind({state}, headers) {
  return state?.kind ?? (headers.get("X-Swap-State") ?? "").split(";")[0];
}

/** Return the state in words: its block and age, or that it is not real. */
function stateWords(route, headers) {
  const {state} = route, [, ...facts] = (headers.get("X-Swap-State") ?? "").split(";"), reported = Object.fromEntries(facts.map(fact => fact.split("=")));
  const name = stateKind(route, headers), block = state?.block ?? reported.block ?? null, age = state?.ageS ?? reported.age ?? null;
  if (UNREAL.includes(name)) return `${name}, not live prices`;
  const kind = name === "live" ? "" : printable(name) + " ";
  return [block === null ? `${kind}state` : `${kind}block ${group(block)}`, age === null ? null : `${group(age)} s`].filter(Boolean).join(", ");
}

function listPaths(route) {
  const poolItem = swap => element("li", {}, nameOf(swap.poolName), ` ${swap.percent} `, shortAddress(swap.poolAddress));
  const hop = swaps => element("div", {}, symbolOf(swaps[0].fromTokenAddress), " → ", symbolOf(swaps[0].toTokenAddress),
    element("ul", {}, ...swaps.map(poolItem)));
  return element("ol", {class: "paths"}, ...route.map(segment =>
    element("li", {}, element("strong", {}, `${segment.percent} of the input`), ...segment.swaps.map(hop))));
}

// The swap ------------------------------------------------------------------------------------------------------------

/** Return what needs consent before a transaction is built, as the command needs an option: a label, and a sentence without consent. */
function findConsents({order: {slippage}, route: {priceImpact}}) {
  const found = [], {maxSlippage, maxImpact} = form.dataset;
  if (Number(slippage) > Number(maxSlippage)) {
    found.push({name: "slippage", label: `Accept up to ${slippage}% less than the quote`,
      missing: `${slippage} is ${slippage} percent, above the limit of ${maxSlippage}. Tick the box to accept it, or write ${slippage}bps for basis points.`});
  }
  if (priceImpact > Number(maxImpact)) {
    found.push({name: "impact", label: `Accept a price impact of ${priceImpact}%`,
      missing: `The price impact of ${priceImpact}% is above the limit of ${maxImpact}%. Tick the box to accept it, or sell less.`});
  }
  return found;
}

/** Return the step from a quote to its transaction. On prices that are not real there is none, only how to get live ones. */
function swapSection({order, route}, headers) {
  const heading = element("h2", {id: "swap-label"}, "Swap"), attributes = {id: "swap", class: "card stack", "aria-labelledby": "swap-label"};
  if (UNREAL.includes(stateKind(route, headers))) return element("section", attributes, heading, ...guidance(order));
  const recipient = element("input", {id: "recipient", autocomplete: "off", spellcheck: "false", placeholder: "0x…", value: wallet.account});
  const answer = element("div", {id: "built", class: "stack", "aria-live": "polite"}), boxes = element("div", {id: "consents"});
  const submit = event => { event.preventDefault(); build(recipient, boxes, answer); };
  showConsents(boxes);
  return element("section", attributes, heading,
    element("form", {id: "review", onsubmit: submit, novalidate: ""},
      element("div", {}, element("label", {for: "recipient"}, "Recipient"), recipient),
      boxes,
      element("div", {}, element("button", {}, "Review transaction"))),
    answer);
}

/** Return what to do without real prices: as a visitor, or on the service's own machine as its operator. */
function guidance({network: name}) {
  const reason = "There is no transaction to sign, because these prices are not real. ";
  if (!LOCAL_HOSTS.includes(location.hostname)) {
    return [element("p", {}, `${reason}This service has no live prices for ${name} now: choose a different network, or quote again later.`)];
  }
  const command = `SWAPCLI_NETWORKS_${name.toUpperCase()}_RPC_URL=URL swapcli serve`;
  return [element("p", {}, `${reason}For live prices, start the service with a node:`),
    copyField("Command", command)];
}

/** Remove a transaction: it does not belong to the next quote. */
function clearTransaction(headers = new Headers()) {
  const recipient = byId("recipient")?.value;
  built = null;
  byId("swap").replaceWith(swapSection(quoted, headers));
  if (recipient && byId("recipient")) byId("recipient").value = recipient;
}

/** Show a box for each thing that needs consent; a ticked one stays ticked. */
function showConsents(boxes) {
  const ticked = new Set([...boxes.querySelectorAll("input:checked")].map(box => box.id));
  boxes.replaceChildren(...findConsents(quoted).map(({name, label}) => {
    const id = "consent-" + name, box = element("input", {id, type: "checkbox"});
    box.checked = ticked.has(id);
    return element("label", {class: "check"}, box, label);
  }));
}

function post(path, body) {
  return send(`${encodeURIComponent(quoted.order.network)}/${path}`,
    {method: "POST", headers: {"Content-Type": "application/json", ...keyHeaders(byId("key").value)}, body: JSON.stringify(body)});
}

/** Build the transaction of the quote on the page, have the service decode its bytes, and show it. */
async function build(recipientField, boxes, answer) {
  pauseRefreshing("Paused for the transaction below.");
  const own = quoted, {order, route} = own, recipient = recipientField.value.trim(), {account} = wallet;
  const missing = findConsents(own).find(({name}) => !byId("consent-" + name)?.checked);
  built = null;
  if (missing) {
    answer.replaceChildren(element("p", {class: "bad"}, missing.missing));
    showConsents(boxes);
    byId("consent-" + missing.name).focus();
    return;
  }
  answer.replaceChildren(element("p", {class: "note"}, "Building …"));
  try {
    const reply = await post("calldata", {route, slippage: Number(order.slippage), destination: recipient, details: true});
    const message = failure(reply);
    if (message) throw new Error(message);
    const {to, value, calldata, verdict} = Array.isArray(reply.document) ? {calldata: reply.document} : reply.document;
    const sender = isSame(account, recipient) ? {sender: account} : {};
    const decoding = await post("decode", {to, value, calldata, destination: recipient, ...sender});
    const problem = failure(decoding);
    if (problem) throw new Error("The transaction is not shown because it cannot be decoded. " + problem);
    if (own !== quoted || !answer.isConnected) return;
    built = {quote: own, order, recipient, account, to, value, calldata, decoded: decoding.document, phase: "", message: ""};
    answer.replaceChildren(...newWarnings(route, reply.response.headers), ...judged(verdict, built));
    checkAccount();
  } catch (error) {
    if (answer.isConnected) answer.replaceChildren(element("p", {class: "bad"}, error.message));
  }
}

/** Return the warnings of a transaction that its quote did not have. */
function newWarnings(route, headers) {
  const known = (route.warnings ?? []).map(({code}) => code), words = {RECIPIENT_BURNS: "Nobody has the recipient's key, so the output is burned."};
  const codes = (headers.get("X-Swap-Warnings") ?? "").split(",").map(warning => warning.split(";")[0].trim());
  return codes.filter(code => code && !known.includes(code)).map(code => element("p", {class: "bad"}, words[code] ?? printable(code)));
}

/** Return what is wrong with a transaction, the dangers first: by its node, its bytes, and the order of the page. */
function findProblems(verdict, {decoded, quote: {route}}) {
  const known = (route.warnings ?? []).map(({code}) => code), dangers = decoded.dangers ?? [];
  const found = (verdict?.reasons ?? []).map(({code, status, message, hint}) => ({code, isDanger: status === "block", text: `${sentence(message)} ${sentence(hint)}`}));
  for (const {code, message} of decoded.warnings ?? []) {
    const isDanger = dangers.includes(code) && !(code === "MINIMUM_TOO_LOW" && isAcceptedSlippage(built));
    if (isDanger || !known.includes(code) && !found.some(each => each.code === code)) found.push({code, isDanger, text: sentence(message)});
  }
  if (!carriesOut(decoded.order ?? {}, built)) found.push({isDanger: true, text: "The calldata does not carry out the order on this page."});
  return found.sort((one, other) => other.isDanger - one.isDanger);
}

/** Return whether the minimum of a transaction is as low as the user accepted, and no lower. */
function isAcceptedSlippage({decoded, order: {slippage}}) {
  return Boolean(byId("consent-slippage")?.checked) && decoded.belowFreshPercent <= Number(slippage) + MAX_MOVE_PERCENT;
}

/** Return whether a decoded order is the one on the page. */
function carriesOut(decoded, {order, recipient}) {
  const isAddress = (one, other) => { try { return BigInt(one) === BigInt(other); } catch { return false; } };
  return isAddress(decoded.inputToken?.address, order.tokenIn.address) && isAddress(decoded.outputToken?.address, order.tokenOut.address)
    && decoded.inputAmount === String(order.amount) && isAddress(decoded.recipient, recipient);
}

/** Return the verdict on a transaction, and its parts; if it is dangerous, they follow a tick. */
function judged(verdict, transaction) {
  const problems = findProblems(verdict, transaction), isDanger = problems.some(each => each.isDanger);
  const list = problems.length ? element("ul", {class: "warnings", "aria-label": "Reasons"}, ...problems.map(({text}) => element("li", {}, text))) : null;
  const words = verdict ? VERDICT_WORDS[verdict.status] : "No node has checked this transaction.";
  if (!isDanger) return [element("p", {class: "note"}, words), list, ...parts(transaction)].filter(Boolean);
  const shown = element("div", {class: "stack"}), box = element("input", {id: "override", type: "checkbox"});
  box.addEventListener("change", () => {
    shown.replaceChildren(...box.checked ? parts(transaction) : []);
    renderSteps();
  });
  return [element("p", {class: "bad"}, "Do not sign this transaction."), list, element("label", {class: "check"}, box, "Show it anyway"), shown];
}

/** Return the parts of a transaction: its decoded order, the steps of a connected wallet, and its fields to copy. */
function parts(transaction) {
  const {to, value, calldata, order, decoded, quote: {route}} = transaction, isCall = Array.isArray(calldata);
  const least = decoded.order?.minReceived, rows = [];
  const add = (name, ...values) => rows.push(element("div", {}, element("dt", {}, name), element("dd", {}, ...values)));
  const amount = (units, token) => [formatAmount(units, token.decimals) + " ", nameOf(token.symbol)];
  if (decoded.order) add("Sells", ...amount(decoded.order.inputAmount, order.tokenIn));
  if (least) add("Receives at least", ...amount(least, order.tokenOut), ", or reverts");
  if (decoded.order) add("Recipient", element("span", {class: "mono whole"}, decoded.order.recipient));
  add("Calls", `${printable(decoded.function ?? "an unknown function")} of `, element("span", {class: "mono whole"}, to ?? "the network's router"));
  const isLess = least && route.minReceived && BigInt(least) < BigInt(route.minReceived);
  return [
    element("dl", {id: "decoded"}, ...rows),
    isLess ? element("p", {class: "bad"}, "Prices have moved since the quote, which promised at least ", ...amount(route.minReceived, order.tokenOut), ".") : null,
    element("p", {id: "life", class: "note", role: "timer"}),
    element("div", {id: "steps", class: "stack", tabindex: "-1"}),
    element("details", {id: "fields"}, element("summary", {}, "Transaction fields"), element("div", {class: "stack"},
      ...isCall ? [copyField("Calldata (felts)", JSON.stringify(calldata))]
        : [copyField("To", to), copyField("Value in wei", value), copyField("Calldata", calldata), copyField("Commands for cast", castCommands(transaction))])),
  ].filter(Boolean);
}

/** Return the transactions as commands of `cast`, one per line: the approval of a token, and the swap. */
function castCommands({to, value, calldata, order: {network: name, tokenIn, amount}}) {
  const approval = {to: tokenIn.address, value: "0", calldata: encodeApproval(to, amount)};
  return [...isNativeToken(tokenIn) ? [] : [approval], {to, value, calldata}].map(each => castCommand(chainIds.get(name), each)).join("\n");
}

function copyField(label, text) {
  const id = "payload-" + label.toLowerCase().replace(/\W+/g, "-"), rows = text.length > 200 ? "6" : text.length > 70 ? "2" : "1";
  const area = element("textarea", {id, readonly: "", rows, spellcheck: "false"});
  area.value = text;
  return element("div", {}, element("div", {class: "copy"}, element("label", {for: id}, label), copyButton("Copy", () => text)), area);
}

// The wallet ----------------------------------------------------------------------------------------------------------

/** Show the wallet in the header: the buttons that connect one, or the connected account. */
function renderWallet() {
  const {account, choices} = wallet, recipient = byId("recipient");
  if (account && recipient && ["", renderWallet.filled].includes(recipient.value.trim())) recipient.value = account;
  renderWallet.filled = account;
  byId("wallet").replaceChildren(...account
    ? [shortAddress(account), element("button", {type: "button", class: "quiet small", onclick: () => { wallet.disconnect(); onWallet(); }}, "Disconnect")]
    : choices.map(connectButton));
}

function connectButton({name, provider}) {
  const words = choices => choices > 1 || name ? ["Connect ", nameOf(name || "wallet")] : ["Connect wallet"];
  return element("button", {type: "button", class: "small", onclick: () => connect(provider)}, ...words(wallet.choices.length));
}

async function connect(provider) {
  const say = text => { byId("error").textContent = text; };
  say("");
  try {
    await wallet.connect(provider);
  } catch (error) {
    say(walletProblem(error));
  }
}

/** Bring the page up to date with the wallet. */
function onWallet() {
  renderWallet();
  showBalance();
  if (built) checkAccount();
}

const chainOf = name => chainIds.get(name);
const isEvm = token => token?.address.length === NATIVE_ADDRESS.length;

function switchButton(name) {
  const change = async event => {
    const {target} = event;
    target.disabled = true;
    try {
      await wallet.switchTo(chainOf(name));
    } catch (error) {
      byId("balance").textContent = walletProblem(error);
    } finally {
      target.disabled = false;
    }
  };
  return element("button", {type: "button", class: "quiet small", onclick: change}, `Switch wallet to ${name}`);
}

/** Show the balance of the token to pay, if a wallet is connected. */
async function showBalance() {
  const place = byId("balance"), token = payer.token, own = balanceRead += 1, name = network;
  if (!wallet.account || !isEvm(token)) return place.replaceChildren();
  if (wallet.chainId !== chainOf(name)) return place.replaceChildren("Your wallet is on a different network. ", switchButton(name));
  let children;
  try {
    const units = await wallet.balance(token);
    children = [element("span", {}, `Balance ${shortAmount(units, token.decimals)} `, nameOf(token.symbol)),
      element("button", {type: "button", class: "quiet small", "aria-label": `Max: the whole balance of ${printable(token.symbol)}`, onclick: () => payAll(token)}, "Max")];
  } catch {
    children = ["Your wallet did not return the balance."];
  }
  if (own === balanceRead) place.replaceChildren(...children);
}

async function payAll(token) {
  const {order, route} = quoted ?? {}, gas = order && isSame(order.tokenIn.address, token.address) ? route.gasUnits : undefined;
  try {
    const units = await wallet.sellable(token, gas);
    if (payer.token !== token) return;
    if (units === 0n) byId("error").textContent = isNativeToken(token) ? "The balance covers only the gas, so nothing is left to swap." : "The balance is zero.";
    else byId("amount").value = formatAmount(units, token.decimals).replaceAll(",", "");
    showValue();
  } catch (error) {
    byId("error").textContent = walletProblem(error);
  }
}

/** Read what the connected account holds and has approved, and show its steps. */
async function checkAccount() {
  const own = built;
  Object.assign(own, {balance: undefined, allowance: undefined, resets: undefined, message: ""});
  renderSteps();
  if (!canCheck(own)) return;
  const {order: {tokenIn, amount}, to} = own, account = wallet.account;
  try {
    const balance = await wallet.balance(tokenIn), allowance = isNativeToken(tokenIn) ? amount : await wallet.allowance(tokenIn, to);
    const resets = allowance < amount && allowance > 0n && await rejectsApproval(tokenIn, to, amount);
    if (built === own && wallet.account === account) Object.assign(own, {balance, allowance, resets});
  } catch (error) {
    own.message = walletProblem(error);
  }
  renderSteps();
}

/** Return whether the token lets an approval only replace zero, as USDT on Ethereum does. */
function rejectsApproval(token, spender, amount) {
  return wallet.request("eth_call", {from: wallet.account, to: token.address, data: encodeApproval(spender, amount)}, "latest").then(() => false, () => true);
}

function canCheck({order, account, calldata}) {
  return wallet.account && !Array.isArray(calldata) && isSame(account, wallet.account) && wallet.chainId === chainOf(order.network);
}

/** Show how long the transaction can be used; after that, its steps end. */
function showLife() {
  const place = byId("life"), left = secondsLeft(built.quote);
  if (!place) return;
  place.textContent = left && built.phase !== "done" ? `Use within ${left} s` : "";
  if (!left && !built.isExpired && built.phase !== "done") {
    built.isExpired = true;
    if (built.phase === "prompt") built.message = "The quote has expired. Reject the request in your wallet.";
    renderSteps();
  }
}

/** Show the next step of the transaction on the page, or why there is none. */
function renderSteps() {
  const place = byId("steps");
  if (!place || !built) return;
  const hadFocus = place.contains(document.activeElement), {phase, message} = built;
  showLife();
  const next = phase === "done" ? [newQuoteButton()] : phase ? [] : steps(built);
  place.replaceChildren(...next, ...message ? [element("p", {role: "status"}, message)] : []);
  if (hadFocus) (place.querySelector("button:enabled") ?? place).focus();
}

function newQuoteButton() {
  return element("button", {type: "button", onclick: pauseOrRefresh}, "Get new quote");
}

function steps(own) {
  const {order: {network: name, tokenIn, amount}, account, recipient, calldata, balance, allowance, resets} = own;
  const say = (text, ...more) => [element("p", {}, text), ...more];
  const button = (label, action, attributes = {}) => element("button", {type: "button", onclick: action, ...attributes}, ...label);
  if (own.isExpired || !secondsLeft(own.quote)) return say("This quote has expired.", newQuoteButton());
  if (Array.isArray(calldata)) return say("This page cannot connect to a Starknet wallet. Copy the fields below into your wallet.");
  if (!wallet.account) {
    const {choices} = wallet;
    return choices.length ? choices.map(connectButton) : say("This browser has no wallet. Copy the fields below into your wallet.");
  }
  if (!isSame(account, wallet.account)) {
    return say("The account in your wallet is not the one in this transaction.", button(["Review again"], () => byId("review").requestSubmit()));
  }
  if (wallet.chainId !== chainOf(name)) return say("Your wallet is on a different network.", switchButton(name));
  if (balance === undefined) return own.message ? [] : say("Reading your balance …");
  if (balance < amount) return say(`Your wallet holds only ${formatAmount(balance, tokenIn.decimals)} ${printable(tokenIn.symbol)}.`);
  const others = isSame(recipient, account) ? [] : [element("p", {class: "bad"}, "The output goes to the recipient above, not to your account.")];
  const swap = {kind: "swap", label: ["Swap in wallet"], transaction: {to: own.to, data: own.calldata, value: own.value}};
  const approve = units => ({to: tokenIn.address, data: encodeApproval(own.to, units)});
  const list = [
    resets ? {kind: "approval", label: ["Reset approval in wallet"], transaction: approve(0n)} : null,
    allowance < amount ? {kind: "approval", label: [`Approve ${formatAmount(amount, tokenIn.decimals)} `, nameOf(tokenIn.symbol), " in wallet"], transaction: approve(amount)} : null,
    swap,
  ].filter(Boolean);
  return [...others, element("ol", {class: "steps", "aria-label": "Steps"}, ...list.map((step, index) =>
    element("li", {}, button(step.label, () => take(step), index ? {disabled: "", class: "quiet"} : {}))))];
}

/** Have the wallet show a step to its user, and follow the transaction if the user sends it. */
async function take({kind, transaction}) {
  const own = built, {order: {network: name, tokenOut}, account, recipient, decoded} = own;
  const say = (message, phase) => { if (built === own) { Object.assign(own, {message, phase}); renderSteps(); } };
  say("Confirm in your wallet.", "prompt");
  let hash;
  try {
    await wallet.refresh();
    if (!wallet.account || !isSame(wallet.account, account) || wallet.chainId !== chainOf(name)) return say("The account or network in your wallet has changed.", "");
    if (!secondsLeft(own.quote)) return say("", "");
    hash = await wallet.send(transaction);
  } catch (error) {
    return say(walletProblem(error), "");
  }
  const isLate = !secondsLeft(own.quote), line = sentLine(kind, hash);
  say("Waiting for the network …", "sent");
  const receipt = await wallet.receipt(hash), isDone = receipt && BigInt(receipt.status ?? 1) === 1n;
  line(receipt ? outcomeOf(kind, receipt, isDone, isDone && kind === "swap" ? receivedAmount(receipt, tokenOut, recipient) : null, tokenOut)
    : "It has not been confirmed after 3 minutes. Check its status in your wallet.");
  if (kind === "swap" && isLate && decoded.order) line(`The quote had expired. The swap pays at least ${formatAmount(decoded.order.minReceived, tokenOut.decimals)} ${printable(tokenOut.symbol)}, or reverts.`);
  showBalance();
  if (kind === "swap") return say("", "done");
  say("", "");
  if (built === own) checkAccount();
}

/** Return the outcome of a mined transaction as a sentence. */
function outcomeOf(kind, {blockNumber}, isDone, received, token) {
  const block = `in block ${group(BigInt(blockNumber))}`;
  if (!isDone) return `It reverted ${block}. You paid only for gas.`;
  return received === null ? `Confirmed ${block}.` : `Confirmed ${block}: received ${formatAmount(received, token.decimals)} ${printable(token.symbol)}.`;
}

/** List a sent transaction, which stays on the page whatever is quoted next. Return what adds a sentence to it. */
function sentLine(kind, hash) {
  const words = element("span", {}), line = element("li", {}, `${kind === "swap" ? "Swap" : "Approval"} sent: `, shortAddress(hash), " ", words);
  byId("sent").hidden = false;
  byId("sent-list").append(line);
  return text => { words.textContent = `${words.textContent} ${text}`.trim(); };
}

// Slippage ------------------------------------------------------------------------------------------------------------

function renderPresets() {
  const use = value => {
    byId("slippage").value = value;
    byId("slippage-note").textContent = "";
    renderPresets();
    if (!result.hidden) form.requestSubmit();
  };
  const current = byId("slippage").value.trim();
  const focused = document.activeElement?.closest?.("#presets") ? document.activeElement.textContent : null;
  byId("presets").replaceChildren(...PRESETS.map(value =>
    element("button", {type: "button", class: "quiet small", "aria-pressed": String(value === current), onclick: () => use(value)}, value)),
    element("button", {type: "button", class: "quiet small", "aria-pressed": String(current === advised.value), onclick: useAdvised}, "Advised"));
  [...byId("presets").children].find(button => button.textContent === focused)?.focus();
}

/** Quote the order with the slippage that the service advises for it, and show the reasons. */
async function useAdvised() {
  const note = byId("slippage-note"), {signal} = asking, key = byId("key").value;
  try {
    let order = readOrder();
    if (order.amount === null) order = readOrder(await readPrice(order, signal));
    const query = orderQuery(order);
    query.set("details", "true");
    query.set("advice", "true");
    const reply = await send(`${encodeURIComponent(order.network)}/route?${query}`, {headers: keyHeaders(key), signal});
    const message = failure(reply), advice = reply.document?.advisedSlippage;
    if (message) throw new Error(message);
    if (!advice) throw new Error("There is no advice for this order, because prices are not real or nothing is traded.");
    advised = {value: String(advice.slippagePercent), reasons: advice.reasons.map(sentence).join(" ")};
    byId("slippage").value = advised.value;
    note.textContent = `${advised.value}% is advised. ${advised.reasons}`;
    renderPresets();
    if (!result.hidden) form.requestSubmit();
  } catch (error) {
    if (error.name !== "AbortError") note.textContent = error.message;
  }
}

/** Fill the form from the link, or with the default order, and quote it. */
async function followLink() {
  const link = new URLSearchParams(location.search), name = link.get("network") ?? byId("network").options[0]?.value;
  byId("amount").value = link.get("amount") ?? "1";
  byId("slippage").value = link.get("slippage") ?? "0.5";
  byId("direct").checked = link.get("direct") === "true";
  byId("error").textContent = "";
  renderPresets();
  try {
    if (![...byId("network").options].some(option => option.value === name)) throw new Error(`This service has no network ${printable(name)}.`);
    await useNetwork(name, link.get("in"), link.get("out"));
  } catch (error) {
    byId("error").textContent = error.message;
    return;
  }
  await quote({keepsLink: true});
}

const wallet = new Wallet(() => onWallet());
wallet.discover();
renderWallet();
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
byId("slippage").addEventListener("input", () => { byId("slippage-note").textContent = ""; renderPresets(); });
addEventListener("popstate", followLink);
for (const event of ["pointerdown", "keydown"]) addEventListener(event, () => { attendedMs = performance.now(); });
document.addEventListener("visibilitychange", tick);
setInterval(tick, 1000);
addEventListener("resize", () => {
  clearTimeout(resizing);
  resizing = setTimeout(redrawPicture, 300);
});
/** List the networks and follow the link. A service that requires an API key needs the one in the form. */
function start() {
  loadNetworks().then(followLink).catch(error => { byId("error").textContent = error.message; });
}

byId("key").addEventListener("change", () => { if (!tokens.length) start(); });
start();
