// Measure the page in Chromium: reads {browser, folder, url, starts, cases} from stdin, prints one JSON document.

import {createRequire} from "node:module";
import {readFileSync} from "node:fs";

const require = createRequire(new URL("../../tests/contracts/package.json", import.meta.url));
const {chromium} = require("playwright-core");
const {browser, folder, url, starts, cases} = JSON.parse(readFileSync(0, "utf8"));
const TIMEOUT_MS = 600_000;
let profiles = 0;

/** Run `work` on a page of a browser without a cache. */
async function withPage(work) {
  const context = await chromium.launchPersistentContext(`${folder}/${profiles++}`, {
    executablePath: browser, headless: true, timeout: TIMEOUT_MS,
    args: ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update"],
  });
  try {
    context.setDefaultTimeout(TIMEOUT_MS);
    return await work(await context.newPage());
  } finally {
    await context.close();
  }
}

/** Return the milliseconds in which Pyodide alone starts in a worker. */
const bareStart = () => withPage(async page => {
  await page.goto(url + "licences.txt");
  return page.evaluate(() => new Promise((resolve, reject) => {
    const started = performance.now(), at = new URL("pyodide/", document.baseURI).href;
    const script = `import {loadPyodide} from "${at}pyodide.mjs"; loadPyodide({indexURL: "${at}"}).then(() => postMessage(1));`;
    const worker = new Worker(URL.createObjectURL(new Blob([script], {type: "text/javascript"})), {type: "module"});
    worker.onmessage = () => resolve(performance.now() - started);
    worker.onerror = event => reject(new Error(event.message));
  }));
});

/** Return the milliseconds from opening the page to its first quote, which is requested at once. */
const firstQuote = () => withPage(async page => {
  const started = performance.now();
  await page.goto(url);
  await page.locator("#token-in").fill("ETH");
  await page.locator("#token-out").fill("USDC");
  await page.locator("#quote-form button").click();
  await page.locator(".received").waitFor();
  return performance.now() - started;
});

/** Return the reply to each case with its milliseconds, from the worker of the page. */
const answers = () => withPage(async page => {
  await page.goto(url + "licences.txt");
  await page.evaluate(() => {
    const worker = new Worker("worker.js", {type: "module"});
    window.ask = (id, action, fields, text) => new Promise(resolve => {
      const started = performance.now();
      worker.onmessage = ({data}) => { if (data.id === id || data.broken) resolve({...data, ms: performance.now() - started}); };
      worker.postMessage({id, action, fields, file: text === null ? null : new File([text], "file.json")});
    });
    return window.ask(-1, "about", {}, null);
  });
  const found = [];
  for (const [id, [action, fields, text]] of cases.entries()) found.push(await page.evaluate(each => window.ask(...each), [id, action, fields, text]));
  return found;
});

const pairs = [];
for (let number = 0; number < starts; number++) pairs.push([await bareStart(), await firstQuote()]);
process.stdout.write(JSON.stringify({pairs, answers: await answers()}));
