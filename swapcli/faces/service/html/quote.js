const MAX_OPTIONS = 60;  // more is slower to read than to type a letter
const MAX_LARGE = 14;  // characters of the largest type that fit a line of a phone
const STATE_WORDS = {live: "read from a node", synced: "synced from a node", recorded: "recorded from the chain",
  modelled: "modelled, not live prices", synthetic: "synthetic, not real prices"};
const VERDICT_WORDS = {ok: "A node has rehearsed this swap, and a sale of what it buys: both work.",
  warn: "Think about this before you sign:"};

const byId = id => document.getElementById(id);
const form = byId("order"), result = byId("quote");
let tokens = [], network = "", asking = new AbortController(), quoted = null, pictureWidth = 0, resizing;

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
  const dollar = tokens.find(token => Math.abs(Number(token.price ?? 0) - 1) < 0.02 && token !== tokens[0]);
  payer.choose(tokenIn === null ? tokens[0] : tokenOf(tokenIn));
  receiver.choose(tokenOut === null ? dollar ?? tokens[1] : tokenOf(tokenOut));
}

/** Return the order in the form. Throws an Error with a sentence, and marks the field that has to change. */
function readOrder() {
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
  const amount = check(byId("amount"), () => parseAmount(byId("amount").value, tokenIn.decimals));
  const slippage = check(byId("slippage"), () => parseSlippage(byId("slippage").value));
  return {network, tokenIn, tokenOut, amount, slippage, direct: byId("direct").checked};
}

/** Return the query of the route endpoint, and of the picture. */
function orderQuery({tokenIn, tokenOut, amount, slippage, direct}) {
  const query = new URLSearchParams({amount: String(amount), tokenInAddress: tokenIn.address, tokenOutAddress: tokenOut.address, slippage});
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
    const order = readOrder(), query = orderQuery(order), path = encodeURIComponent(order.network);
    const link = linkOf(order);
    if (!keepsLink && link.href !== location.href) history.pushState(null, "", link);
    setStatus("Searching the best route …");
    result.classList.add("old");
    query.set("details", "true");
    const reply = await send(`${path}/route?${query}`, {headers: keyHeaders(key), signal});
    const message = failure(reply);
    if (reply.response.status === 401 || reply.response.status === 429) byId("more").open = true;
    if (message) throw new Error(message);
    quoted = {order, route: reply.document};
    show(quoted, reply.response.headers);
    if (!keepsLink && result.getBoundingClientRect().top > innerHeight / 2) result.scrollIntoView();
    await drawPicture(order, signal);
  } catch (error) {
    if (error.name === "AbortError") return;
    setStatus("");
    result.hidden = true;
    byId("error").textContent = error.message;
  }
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
  const {tokenIn, tokenOut} = order;
  const pays = amount => formatAmount(amount, tokenOut.decimals) + " " + printable(tokenOut.symbol);
  const input = `${formatAmount(order.amount, tokenIn.decimals)} ${printable(tokenIn.symbol)}`;
  setStatus(`${input} on ${order.network} pays ${pays(route.outputAmount)}.`, {isHidden: true});
  result.classList.remove("old");
  result.hidden = false;
  const warnings = listWarnings(route, headers), received = formatAmount(route.outputAmount, tokenOut.decimals);
  result.replaceChildren(
    element("div", {class: "card stack"},
      element("div", {class: "head"},
        element("h2", {id: "received-label", class: "note"}, "You receive"),
        element("p", {class: received.length > MAX_LARGE ? "received long" : "received"}, received + " ",
          element("span", {class: "unit"}, nameOf(tokenOut.symbol))),
        element("p", {class: "note"}, `for ${formatAmount(order.amount, tokenIn.decimals)} `, nameOf(tokenIn.symbol), ` on ${order.network}`),
        element("div", {class: "actions"}, copyButton("Copy link", () => linkOf(order).href), copyButton("Copy JSON", () => JSON.stringify(route, null, 2)))),
      warnings.length ? element("ul", {class: "warnings", "aria-label": "Warnings"}, ...warnings.map(text => element("li", {}, text))) : null,
      element("dl", {}, ...figures(order, route, headers))),
    element("div", {class: "card stack"},
      element("h2", {}, "Route"),
      element("figure", {id: "picture", class: "picture"}),
      element("details", {}, element("summary", {}, `All pools: ${countPools(route.route)}`), listPaths(route.route))),
    transactionForm(order));
}

function listWarnings(route, headers) {
  if (route.warnings) return route.warnings.map(({message}) => sentence(message));
  return (headers.get("X-Swap-Warnings") ?? "").split(", ").filter(Boolean).map(printable);
}

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
  if (route.outputNetOfGas) add("Output less gas", pays(route.outputNetOfGas));
  if (route.bestSinglePath) {
    const {amount: single, gainBps} = route.bestSinglePath;
    if (single === null) add("Best single path", "none fills the order");
    else add("Best single path", pays(single), small(`this quote: ${gainBps < 0 ? "" : "+"}${gainBps.toFixed(1)} bps`));
  }
  add("Pool state", ...stateWords(route, headers));
  if (route.expiresAt) add("Use before", new Date(route.expiresAt * 1000).toISOString().slice(11, 19) + " UTC");
  return rows;
}

/** Return the pool state in words: what it is, its block, and its age. */
function stateWords({state}, headers) {
  const [kind, ...facts] = (headers.get("X-Swap-State") ?? "").split(";"), reported = Object.fromEntries(facts.map(fact => fact.split("=")));
  const name = state?.kind ?? kind, block = state?.block ?? reported.block, age = state?.ageS ?? reported.age;
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

/** Return the form that asks for a recipient, and for consent to a high slippage, and shows the transaction. */
function transactionForm({slippage}) {
  const recipient = element("input", {id: "recipient", autocomplete: "off", spellcheck: "false", "aria-describedby": "recipient-note", placeholder: "0x…"});
  const answer = element("div", {class: "stack", "aria-live": "polite"});
  const isHigh = Number(slippage) > Number(form.dataset.maxSlippage);
  const consent = isHigh ? element("input", {id: "consent", type: "checkbox"}) : null;
  const submit = event => { event.preventDefault(); build(recipient, consent, answer); };
  return element("section", {class: "card stack", "aria-labelledby": "transaction-label"},
    element("h2", {id: "transaction-label"}, "Transaction"),
    element("form", {onsubmit: submit, novalidate: ""},
      element("div", {},
        element("label", {for: "recipient"}, "Recipient of the output"), recipient,
        element("p", {id: "recipient-note", class: "note"}, "It is not part of the link.")),
      isHigh ? element("label", {class: "check"}, consent, `The swap may pay ${slippage}% less than the quote`) : null,
      element("div", {}, element("button", {class: "quiet"}, "Build transaction"))),
    answer);
}

/** Build the transaction of the quote on the page, and show it. */
async function build(recipient, consent, answer) {
  const {order, route} = quoted;
  if (consent && !consent.checked) {
    const limit = form.dataset.maxSlippage, words = `${order.slippage} is ${order.slippage} percent, above ${limit}: tick the box to accept it, or write ${order.slippage}bps for basis points.`;
    answer.replaceChildren(element("p", {class: "bad"}, words));
    consent.focus();
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
  ].filter(Boolean);
}

function copyField(label, text) {
  const id = "payload-" + label.toLowerCase().replace(/\W+/g, "-"), rows = text.length > 200 ? "6" : text.length > 70 ? "2" : "1";
  const area = element("textarea", {id, readonly: "", rows, spellcheck: "false"});
  area.value = text;
  return element("div", {}, element("div", {class: "copy"}, element("label", {for: id}, label), copyButton("Copy", () => text)), area);
}

/** Fill the form from the link, and quote if the link has a whole order. */
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
  if (link.has("amount")) await quote({keepsLink: true});
  else { setStatus(""); result.hidden = true; }
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
addEventListener("popstate", followLink);
addEventListener("resize", () => {
  clearTimeout(resizing);
  resizing = setTimeout(redrawPicture, 300);
});
loadNetworks().then(followLink).catch(error => { byId("error").textContent = error.message; });
