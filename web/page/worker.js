// Runs Python in a worker, so that the page stays responsive. It answers requests one at a time, in their order.

import {loadPyodide} from "./pyodide/pyodide.mjs";

const MARKETS = "/files/market", PROOFS = "/files/proof";  // errors name a market file relative to the current folder
let python, bridge, openMarket = null;

async function start() {
  postMessage({stage: "Loading Python: 13 MB, once per visit …"});
  python = await loadPyodide({indexURL: new URL("pyodide/", import.meta.url).href, stdout: () => {}, stderr: () => {}});
  postMessage({stage: "Loading swapcli …"});
  const response = await fetch(new URL("swapcli.zip", import.meta.url));
  if (!response.ok) throw new Error(`the server returned status ${response.status} for swapcli.zip`);
  python.unpackArchive(await response.arrayBuffer(), "zip", {extractDir: "/swapcli"});
  for (const folder of [MARKETS, PROOFS]) python.FS.mkdirTree(folder);
  python.FS.chdir(MARKETS);
  python.runPython("import sys; sys.path.insert(0, '/swapcli')");
  bridge = python.pyimport("web.bridge");
}

/** Return the bytes of a file of the user. Throws an error whose `sentence` is for the page. */
async function read(file) {
  try {
    return new Uint8Array(await file.arrayBuffer());
  } catch {
    throw Object.assign(new Error(), {sentence: `${file.name} can no longer be read; choose it again`});
  }
}

/** Put a market file where Python finds it, in place of the one before. */
async function placeMarket(name, id, file) {
  if (openMarket?.id === id) return;
  const content = await read(file);
  if (openMarket) python.FS.unlink(`${MARKETS}/${openMarket.name}`);
  openMarket = null;
  python.FS.writeFile(`${MARKETS}/${name}`, content);
  openMarket = {name, id};
}

async function answer({action, fields, file}) {
  await started;
  if (action !== "check") {
    if (file) await placeMarket(fields.file, fields.fileId, file);
    return bridge.call(action, JSON.stringify(fields));
  }
  const path = `${PROOFS}/proof`;
  python.FS.writeFile(path, await read(file));
  try {
    return bridge.call(action, JSON.stringify({...fields, file: path}));
  } finally {
    python.FS.unlink(path);
  }
}

const started = start();
let last = started;
started.then(() => postMessage({stage: ""}), error => postMessage({broken: String(error.message ?? error)}));
onmessage = ({data}) => {
  last = last.catch(() => {}).then(() => answer(data)).then(
    reply => postMessage({id: data.id, reply: JSON.parse(reply)}),
    error => postMessage(error.sentence ? {id: data.id, reply: {error: {message: error.sentence}}} : {id: data.id, crash: String(error)}));
};
