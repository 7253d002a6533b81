"use strict";

const MIN_PICTURE_PX = 320, MAX_PICTURE_PX = 960;  // text in a picture has the same size at every width

/** Return a new DOM element. Attributes called `on...` are listeners; children are elements or text, never markup. */
function element(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value !== undefined && value !== null) node.setAttribute(name, value);
  }
  node.append(...children.filter(child => child !== null && child !== undefined));
  return node;
}

/** Return text of a market or a service with a "?" for each character that could reorder or hide its surroundings. */
function printable(text) {
  return String(text).replace(/[\p{C}\p{Zl}\p{Zp}]/gu, "?");
}

/** Return a value as indented JSON, with an escape for each character that could reorder or hide its surroundings. */
function jsonText(value) {
  const escaped = character => [...Array(character.length).keys()].map(at => "\\u" + character.charCodeAt(at).toString(16).padStart(4, "0"));
  return JSON.stringify(value, null, 2).replace(/(?!\n)[\p{C}\p{Zl}\p{Zp}]/gu, character => escaped(character).join(""));
}

/** Return a name from a market, isolated from the direction of the text around it. */
function nameOf(text) {
  return element("bdi", {}, printable(text));
}

/**
 * Read an amount as people write it, by the rules of the command: `2.5k`, `1,000.5`, `$1000`. Return the plain decimal,
 * and whether it counts dollars. Throws an Error whose message is a sentence.
 */
function readAmount(text) {
  const written = text.trim(), lowered = written.toLowerCase();
  if (lowered === "all" || written.endsWith("%")) {
    throw new Error("Enter an amount. For the whole balance, connect a wallet and choose Max.");
  }
  const isUsd = written.startsWith("$") || lowered.endsWith("usd");
  const inner = written.startsWith("$") ? written.slice(1) : isUsd ? written.slice(0, -3) : written;
  const match = /^([0-9]*|[0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,3}(?:_[0-9]{3})+)(?:\.([0-9]+))?([kmb]?)$/i.exec(inner);
  if (!match || !(match[1] || match[2])) throw new Error(amountHint(inner));
  const exponent = {"": 0, k: 3, m: 6, b: 9}[match[3].toLowerCase()], fraction = match[2] ?? "";
  const whole = match[1].replace(/[,_]/g, "") + (exponent ? fraction.slice(0, exponent).padEnd(exponent, "0") : "");
  const rest = fraction.slice(exponent);
  return {isUsd, number: rest ? `${whole}.${rest}` : whole, isPlain: !isUsd && !exponent && !/[,_]/.test(inner)};
}

function amountHint(text) {
  const isContinental = /^(?:[0-9]{1,3}(?:\.[0-9]{3})*,[0-9]+|[0-9]{1,3}(?:\.[0-9]{3}){2,})$/.test(text) && text.length <= 80;
  return isContinental ? `Use commas for thousands and a point for decimals: ${text.replaceAll(".", "").replace(",", ".")}.`
    : "Enter a decimal number, such as 1.5, 1,000.5, 2k or $1000.";
}

/**
 * Return the base units of an amount as a BigInt. Dollars need the price of a whole token, and are rounded down.
 * Throws an Error whose message is a sentence.
 */
function parseAmount(text, decimals, priceUsd = null) {
  const {isUsd, number} = readAmount(text), [whole, fraction = ""] = number.split(".");
  const digits = BigInt(whole + fraction || "0"), places = 10n ** BigInt(fraction.length), unit = 10n ** BigInt(decimals);
  if (digits === 0n) throw new Error("The amount must be greater than zero.");
  if (isUsd && !priceUsd) throw new Error("This token has no price in USD. Enter the amount in tokens.");
  if (!isUsd && fraction.length > decimals) throw new Error(`This token has ${decimals} decimals, but the amount has ${fraction.length}.`);
  const [numerator, denominator] = isUsd ? exactRatio(priceUsd) : [1n, 1n];
  const units = digits * unit * denominator / (places * numerator);
  if (units === 0n) throw new Error("This is less than one base unit of the token.");
  if (units >> 256n) throw new Error("The amount is too large.");
  return units;
}

/** Return a positive number as the exact ratio of two BigInts, so that nothing is rounded before the end. */
function exactRatio(number) {
  let denominator = 1n;
  for (; !Number.isInteger(number); number *= 2) denominator *= 2n;
  return [BigInt(number), denominator];
}

/** Return the rough value of an amount as text; "" without a price. */
function formatDollars(units, decimals, priceUsd) {
  if (!priceUsd) return "";
  const value = Number(units) / 10 ** decimals * priceUsd;
  if (value > 0 && value < 0.01) return "less than $0.01";
  return value < 1e15 ? "about $" + value.toLocaleString("en-US", {minimumFractionDigits: 2, maximumFractionDigits: 2}) : "";
}

/** Return the ABI encoding of an approval of exactly this amount. */
function encodeApproval(spender, amount) {
  return "0x095ea7b3" + spender.slice(2).toLowerCase().padStart(64, "0") + BigInt(amount).toString(16).padStart(64, "0");
}

/** Return a transaction as a line for a shell, as `swapcli calldata --format cast` has it. */
function castCommand(chainId, {to, value, calldata}) {
  return `cast send --chain ${chainId} --value ${value} ${to} ${calldata}`;
}

/** Return a slippage in percent as text, rounded down to four decimals; "30bps" is "0.3". */
function parseSlippage(text) {
  const match = /^(\d{1,9})(?:\.(\d{1,40}))?\s*(%|bps)?$/i.exec(text.trim());
  if (!match) throw new Error("Enter the slippage in percent, such as 0.5, or in basis points, such as 50bps.");
  const ppm = BigInt(match[1] + (match[2] ?? "").slice(0, 4).padEnd(4, "0"));
  return formatAmount(match[3]?.toLowerCase() === "bps" ? ppm / 100n : ppm, 4).replaceAll(",", "");
}

/** Return an amount in whole tokens, exact: every digit that is not a trailing zero. */
function formatAmount(units, decimals) {
  const value = BigInt(units), sign = value < 0n ? "-" : "";
  const digits = (value < 0n ? -value : value).toString().padStart(decimals + 1, "0");
  const whole = digits.slice(0, digits.length - decimals), fraction = digits.slice(digits.length - decimals).replace(/0+$/, "");
  return sign + group(whole) + (fraction && "." + fraction);
}

const SHORT_DIGITS = 6;  // as the command shows amounts

/** Return an amount in whole tokens for people: rounded down to six digits, from one token on with two decimals. */
function shortAmount(units, decimals) {
  const value = BigInt(units), magnitude = value.toString().length - 1 - decimals;
  const step = 10n ** BigInt(Math.max(0, decimals - Math.max(2, SHORT_DIGITS - 1 - magnitude)));
  if (value % step === 0n) return formatAmount(value, decimals);
  const [whole, fraction = ""] = formatAmount(value / step * step, decimals).split("."), places = Math.min(decimals, Math.max(2, SHORT_DIGITS - 1 - magnitude));
  return `${whole}.${fraction.padEnd(places, "0")}`;
}

/** Return the beginning and the end of an address or a hash. */
function shortText(text) {
  return text.length > 14 ? `${text.slice(0, 6)}…${text.slice(-4)}` : text;
}

/** Return a short address with a button that copies the whole one. */
function shortAddress(address) {
  const text = printable(address);
  return element("span", {class: "address"}, element("span", {class: "mono", title: text}, shortText(text)), " ",
    copyButton("Copy", () => text, `Copy ${text}`));
}

/** Return an integer's digits with a comma between thousands. */
function group(digits) {
  return String(digits).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** Return numerator / denominator with `digits` significant digits, rounded down; both are BigInts above zero. */
function formatRatio(numerator, denominator, digits = 8) {
  const difference = numerator.toString().length - denominator.toString().length;
  const isLess = difference >= 0 ? numerator < denominator * 10n ** BigInt(difference) : numerator * 10n ** BigInt(-difference) < denominator;
  const decimals = Math.max(0, digits - 1 - difference + (isLess ? 1 : 0));
  return formatAmount(numerator * 10n ** BigInt(decimals) / denominator, decimals);
}

/** Send a request. Return the response, its text, and its document if it is JSON; throws an Error without a response. */
async function send(url, options = {}) {
  const started = performance.now();
  let response;
  try {
    response = await fetch(url, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error("The service is not responding. Is it running?");
  }
  const text = await response.text();
  let document = null;
  try {
    document = JSON.parse(text);
  } catch { /* not JSON: `text` has it */ }
  return {response, text, document, ms: Math.round(performance.now() - started)};
}

/** Call `onEvent` with the name and the data of each server-sent event of a response, until it ends. Throws an Error if there is none. */
async function readEvents(url, options, onEvent) {
  const response = await fetch(url, options);
  if (!response.ok || !(response.headers.get("Content-Type") ?? "").startsWith("text/event-stream")) throw new Error("There is no stream.");
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    const events = (text + part.value).split("\n\n");
    text = events.pop();
    for (const each of events) {
      const fields = Object.fromEntries(each.split("\n").map(line => line.match(/^(\w+): (.*)$/)).filter(Boolean).map(found => found.slice(1)));
      if (fields.data) onEvent(fields.event, JSON.parse(fields.data));
    }
  }
}

/** Return the message of an unsuccessful response as a sentence; null for a success. */
function failure({response, document}) {
  if (response.ok && document?.success !== false) return null;
  const message = document?.errorMessage ?? document?.details ?? document?.message ?? `The service returned status ${response.status}`;
  const wait = response.headers.get("Retry-After");
  return sentence(message) + (wait ? ` Try again in ${wait} seconds.` : "");
}

/** Return the text of an error or a warning as a sentence. */
function sentence(text) {
  const closed = printable(text).replace(/[.\s]*$/, ".");
  return closed[0].toUpperCase() + closed.slice(1);
}

/** Return the headers of a request with an API key, which may be empty. */
function keyHeaders(key) {
  return key ? {"X-API-Key": key} : {};
}

/** Return whether a response is a picture. */
function isPicture({response}) {
  return response.ok && (response.headers.get("Content-Type") ?? "").startsWith("image/svg+xml");
}

/** Return the picture of a response as an image, which is inert: it runs no script and loads nothing. */
function imageOf({text}, description) {
  const address = URL.createObjectURL(new Blob([text], {type: "image/svg+xml"}));
  const image = element("img", {alt: description, onload: () => URL.revokeObjectURL(address)});
  image.src = address;
  return image;
}

/** Put the picture of an order into `figure`, at its width; an error becomes a sentence. */
async function showPicture(figure, url, key, description, signal) {
  const sized = new URL(url, document.baseURI);
  sized.searchParams.set("width", Math.min(Math.max(figure.clientWidth, MIN_PICTURE_PX), MAX_PICTURE_PX));
  const reply = await send(sized, {headers: keyHeaders(key), signal});
  figure.replaceChildren(isPicture(reply) ? imageOf(reply, description)
    : element("p", {class: "note"}, "There is no picture. " + (failure(reply) ?? "")));
}

/** Return a button that copies the result of `read`; screen readers get a longer `name`. */
function copyButton(label, read, name) {
  const button = element("button", {type: "button", class: "quiet small", onclick: copy, "aria-label": name}, label);
  async function copy() {
    button.textContent = await writeClipboard(read(), button) ? "Copied" : "Not copied";
    if (name) button.setAttribute("aria-label", button.textContent);
    setTimeout(() => {
      button.textContent = label;
      if (name) button.setAttribute("aria-label", name);
    }, 2000);
  }
  return button;
}

/** Copy text; return whether that worked. Without HTTPS, browsers allow only the older way, by a selection. */
async function writeClipboard(text, focused) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text).then(() => true, () => false);
  const area = element("textarea", {readonly: ""});
  area.value = text;
  document.body.append(area);
  area.select();
  const isCopied = document.execCommand("copy");
  area.remove();
  focused.focus();
  return isCopied;
}

/** Return the number of paths and pools of a route in words. */
function countPools(route) {
  const pools = new Set(route.flatMap(segment => segment.swaps.flat().map(swap => swap.poolAddress + JSON.stringify(swap.extraData))));
  const count = (number, noun) => `${number} ${noun}${number === 1 ? "" : "s"}`;
  return `${count(route.length, "path")} through ${count(pools.size, "pool")}`;
}
