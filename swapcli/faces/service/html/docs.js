const GENERATIONS = ["First generation", "Second generation"];
const ORDER_FIELDS = ["amount", "tokenInAddress", "tokenOutAddress", "direct", "excludeProtocols", "reverse", "shares"];

const main = document.querySelector("main"), nav = document.querySelector("nav");
let description, lastRoute = null;
const places = new Map();  // of each operation: the section that has it, and what selects it there

function resolve(schema) {
  while (schema && schema.$ref) {
    schema = schema.$ref.slice(2).split("/").reduce((at, key) => at[key], description);
  }
  return schema || {};
}

/** Return the form of a JSON document in words, as a schema describes it. */
function outline(schema, depth = 0) {
  const name = schema.$ref ? schema.$ref.split("/").pop() : "", shape = resolve(schema);
  if (shape.anyOf) return shape.anyOf.map(each => outline(each, depth)).join(" or ");
  if (shape.const !== undefined) return JSON.stringify(shape.const);
  if (shape.enum) return shape.enum.map(each => JSON.stringify(each)).join(" | ");
  if (shape.type === "array") return "[ " + outline(shape.items || {}, depth) + " … ]";
  if (shape.type === "object" && shape.properties) {
    if (depth > 5) return name || "{ … }";
    const indent = "  ".repeat(depth + 1), required = new Set(shape.required || []);
    const fields = Object.entries(shape.properties).map(
      ([key, each]) => indent + key + (required.has(key) ? "" : "?") + ": " + outline(each, depth + 1));
    return "{\n" + fields.join("\n") + "\n" + "  ".repeat(depth) + "}";
  }
  const range = shape.minimum === undefined ? "" : ` ${shape.minimum} to ${shape.maximum ?? "…"}`;
  return (shape.type || "anything") + range;
}

/** Return text of the document as DOM nodes, with code between backticks. */
function prose(text) {
  return text.split(/`([^`]*)`/).map((part, index) => index % 2 ? element("code", {}, part) : part.replace(/\s*\n\s*/g, " "));
}

function paragraphs(text, attributes = {}) {
  return text.split(/\n\s*\n/).map(each => element("p", attributes, ...prose(each)));
}

function inputOf(parameter, id) {
  const schema = resolve(parameter.schema), value = parameter.example ?? "";
  const attributes = {id, "aria-describedby": id + "-text"};
  const options = schema.enum || (schema.type === "boolean" ? ["false", "true"] : null);
  const standard = schema.default === undefined || schema.default === "" ? "" : `${schema.default} by default`;
  if (!options) return element("input", {...attributes, value, placeholder: standard, spellcheck: "false", autocomplete: "off"});
  const choices = parameter.required ? options : ["", ...options];
  return element("select", attributes, ...choices.map(option =>
    element("option", {value: option, selected: option === value ? "" : null}, option === "" ? standard || "not sent" : String(option))));
}

function parameterList(parameters, fields, operationId) {
  return element("div", {class: "parameters"}, ...parameters.map(parameter => {
    const id = `${operationId}-${parameter.name}`, input = fields[parameter.name] = inputOf(parameter, id);
    return element("div", {class: "parameter"},
      element("label", {for: id}, parameter.name, " ", parameter.required ? element("span", {class: "required"}, "required") : null),
      element("div", {class: "text", id: id + "-text"}, ...paragraphs(parameter.description || ""),
        element("p", {class: "note mono"}, outline(parameter.schema))),
      input);
  }));
}

/** Return the request that the fields describe. */
function buildRequest(path, method, parameters, fields, body) {
  const query = new URLSearchParams();
  let concrete = path;
  for (const parameter of parameters) {
    const value = fields[parameter.name].value;
    if (parameter.in === "path") concrete = concrete.replace(`{${parameter.name}}`, encodeURIComponent(value));
    else if (value !== "") query.append(parameter.name, value);
  }
  const url = new URL("." + concrete, document.baseURI), headers = keyHeaders(document.getElementById("key").value);
  url.search = query;
  if (body) headers["Content-Type"] = "application/json";
  return {url, options: {method: method.toUpperCase(), headers, body: body ? body.value : undefined}};
}

function shellQuote(text) {
  return "'" + text.replaceAll("'", "'\\''") + "'";
}

function curlCommand({url, options}) {
  const headers = Object.keys(options.headers).map(
    name => " -H " + shellQuote(`${name}: ${name === "X-API-Key" ? "…" : options.headers[name]}`)).join("");
  const body = options.body === undefined ? "" : " --data-binary " + shellQuote(options.body);
  return `curl -X ${options.method} ${shellQuote(url.href)}${headers}${body}`;
}

/** Send a request; show the status, a summary and a picture if the response has a route, and the response itself. */
async function sendAndShow(request, answer) {
  answer.replaceChildren(element("p", {class: "note"}, "Waiting …"));
  try {
    const reply = await send(request.url, request.options), {response, document: body} = reply;
    const id = response.headers.get("X-Request-Id"), route = routeOf(body);
    if (route?.estimatedGasUsed) lastRoute = route;
    const status = `${response.status} in ${reply.ms} ms` + (id ? `, request ${id}` : "");
    const figure = element("figure", {class: "picture"}), picture = route ? pictureUrl(request) : null;
    answer.replaceChildren(
      element("p", {class: response.ok ? "good" : "bad"}, status),
      ...(route ? [element("p", {class: "summary"}, ...summarize(route))] : []),
      ...(picture ? [figure] : []),
      isPicture(reply) ? element("figure", {class: "picture"}, imageOf(reply, "A picture of the route."))
        : element("pre", {tabindex: "0", role: "region", "aria-label": "Response"}, body === null ? reply.text.split("\n").map(printable).join("\n") : jsonText(body)));
    if (picture) await showPicture(figure, picture, request.options.headers["X-API-Key"], "A picture of the route. The response below gives the same information.");
  } catch (error) {
    answer.replaceChildren(element("p", {class: "bad"}, error.message));
  }
}

/** Return the route in a response; null if it has none. */
function routeOf(body) {
  const route = body?.inputToken ? body : body?.route;
  return route?.inputToken && route.outputToken && Array.isArray(route.route) ? route : null;
}

function summarize(route) {
  const amount = (units, token) => [formatAmount(units, Number(token.decimals)) + " ", nameOf(token.symbol ?? token.name)];
  return [...amount(route.inputAmount, route.inputToken), " → ", ...amount(route.outputAmount, route.outputToken), ": ", countPools(route.route)];
}

/** Return the address of the picture of the order that a request contains; null if it contains none. */
function pictureUrl({url, options}) {
  let order = Object.fromEntries(url.searchParams);
  if (options.body !== undefined) {
    try {
      order = JSON.parse(options.body);
    } catch { /* the service has refused it */ }
  }
  if (!["amount", "tokenInAddress", "tokenOutAddress"].every(name => typeof order[name] === "string")) return null;
  const picture = new URL(url.pathname.replace(/\/(v2\/)?[^/]*$/, "/route.svg"), url), query = new URLSearchParams();
  for (const name of ORDER_FIELDS) {
    for (const value of [order[name] ?? []].flat()) query.append(name, value);
  }
  picture.search = query;
  return picture;
}

function bodyField(content, id) {
  const text = content.example === undefined ? "{}" : jsonText(content.example);
  const area = element("textarea", {id, spellcheck: "false"});
  area.value = text;
  return area;
}

function useLastRoute(area, answer) {
  if (!lastRoute) {
    answer.replaceChildren(element("p", {class: "note"}, "Request a route first. This button then inserts the last route here."));
    return;
  }
  try {
    const body = JSON.parse(area.value);
    body["route_response" in body ? "route_response" : "route"] = lastRoute;
    area.value = jsonText(body);
  } catch {
    answer.replaceChildren(element("p", {class: "bad"}, "The body is not valid JSON."));
  }
}

/** Return what an operation takes, sends and returns. */
function operationParts({path, method, described, shared}) {
  const id = described.operationId, parameters = [...shared, ...(described.parameters || [])], fields = {};
  const answer = element("div", {class: "reply", "aria-live": "polite"});
  const content = described.requestBody && described.requestBody.content["application/json"];
  const area = content ? bodyField(content, id + "-body") : null, request = () => buildRequest(path, method, parameters, fields, area);
  const responses = Object.entries(described.responses).map(([status, response]) => {
    const media = Object.values(response.content || {})[0], text = [`${status}: `, ...prose(response.description)];
    return media && media.schema
      ? element("details", {}, element("summary", {}, ...text), element("pre", {tabindex: "0", role: "region", "aria-label": `Schema ${id} ${status}`}, outline(media.schema)))
      : element("p", {class: "note"}, ...text);
  });
  // Browsers send no body with a GET request, and a stream does not end, so only the command is offered.
  const isStream = "text/event-stream" in (described.responses["200"]?.content ?? {}), canSend = !isStream && !(method === "get" && area);
  const named = (label, onclick, quiet) => element("button", {class: quiet ? "quiet" : "", "aria-label": `${label}: ${method.toUpperCase()} ${path}`, onclick}, label);
  return [
    ...(described.description ? paragraphs(described.description, {class: "note"}) : []),
    parameters.length ? parameterList(parameters, fields, id) : null,
    area ? element("div", {}, element("label", {for: id + "-body"}, "Body"), area) : null,
    element("div", {class: "actions"},
      canSend ? named("Send", () => sendAndShow(request(), answer)) : null,
      area && canSend ? named("Insert the last route", () => useLastRoute(area, answer), true) : null,
      named("Show as curl command", () => answer.replaceChildren(element("pre", {}, curlCommand(request()))), true)),
    answer,
    element("details", {}, element("summary", {}, "Responses"), ...responses),
  ].filter(Boolean);
}

/** Return the section of an operation, which a reader can see in each of its variants: by generation and by network. */
function operation(variants) {
  const [{method, path, described}] = variants, id = described.operationId, parts = element("div", {class: "parts"});
  const choice = element("select", {id: id + "-variant"}, ...variants.map(each => element("option", {value: each.described.operationId}, each.path)));
  const shown = new Map();
  const show = () => {
    const variant = variants[choice.selectedIndex];
    if (!shown.has(variant)) shown.set(variant, element("div", {class: "parts"}, ...operationParts(variant)));
    parts.replaceChildren(shown.get(variant));
  };
  choice.addEventListener("change", show);
  show();
  for (const each of variants) places.set(each.described.operationId, {id, select() { choice.value = each.described.operationId; show(); }});
  return element("section", {class: "operation card", id, "aria-labelledby": id + "-title"}, element("details", {class: "fold"},
    element("summary", {}, element("h3", {id: id + "-title"}, element("span", {class: "method"}, method.toUpperCase()), " ", path),
      element("span", {class: "what"}, ...prose(described.summary))),
    variants.length > 1 ? element("div", {}, element("label", {for: choice.id}, "Path"), choice) : null,
    parts));
}

/** Return the operations of a document by tag, the variants of one together: of each generation, and of each network. */
function groupOperations({tags, paths}) {
  const groups = new Map();
  const found = Object.entries(paths).flatMap(([path, item]) => Object.entries(item).filter(([, each]) => each.tags)
    .map(([method, described]) => ({path, method, described, shared: item.parameters || [], tag: described.tags[0]})));
  for (const {name} of tags) {
    for (const each of found.filter(({tag}) => tag === name)) {
      const key = `${each.method} ${each.path.replace(/^\/[^/]+\/(v2\/)?/, "")}`;
      groups.set(key, [...groups.get(key) ?? [], each]);
    }
  }
  return [...groups.values()];
}

/** Open an operation and show it. */
function reveal(id) {
  const place = places.get(id), section = place && document.getElementById(place.id), fold = section?.querySelector(".fold");
  if (!fold) return;
  place.select();
  fold.open = true;
  section.scrollIntoView();
}

function revealLinked() {
  reveal(decodeURIComponent(location.hash.slice(1)));
}

function show() {
  const {info, tags} = description, groups = groupOperations(description);
  const links = element("details", {}, element("summary", {}, "Operations"), element("a", {href: "openapi.json"}, "openapi.json"));
  links.open = matchMedia("(min-width: 64rem)").matches;
  nav.replaceChildren(links);
  main.replaceChildren(element("div", {class: "intro"},
    element("h1", {}, `${info.title} ${info.version}`),
    ...paragraphs(info.description),
    element("div", {},
      element("label", {for: "key"}, "API key"), element("input", {id: "key", type: "password", autocomplete: "off", "aria-describedby": "key-note"}),
      element("p", {id: "key-note", class: "note"}, "Optional, unless the service requires one. It is kept until you close this page, and it is sent only to this service."))));
  let heading = null;
  for (const variants of groups) {
    const [{tag, path, method, described: {operationId}}] = variants, name = GENERATIONS.includes(tag) ? "Routes and transactions" : tag;
    if (name !== heading) {
      const about = GENERATIONS.includes(tag) ? [] : paragraphs(tags.find(each => each.name === tag).description, {class: "note"});
      main.append(element("div", {class: "tag"}, element("h2", {}, name), ...about));
      links.append(element("h2", {}, name));
      heading = name;
    }
    main.append(operation(variants));
    links.append(element("a", {href: "#" + operationId, onclick: () => reveal(operationId)}, `${method.toUpperCase()} ${path}`));
  }
  revealLinked();
}

addEventListener("hashchange", revealLinked);
send(new URL("openapi.json", document.baseURI)).then(reply => {
  const message = failure(reply);
  if (message) throw new Error(message);
  description = reply.document;
  show();
}).catch(error => {
  main.replaceChildren(element("p", {class: "bad", role: "alert"}, "openapi.json cannot be loaded. " + error.message));
});
