// Serialises every call of ../vectors.json with starknet.js and says where it differs from what starknet-py made of it.
// Writes its version into the file when all agree; ends with status 1 when any does not.
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const require = createRequire(process.cwd() + "/");
const { CallData, cairo, hash } = require("starknet");
const { version } = JSON.parse(readFileSync(new URL("../package.json", pathToFileURL(require.resolve("starknet"))), "utf8"));

const here = (name) => new URL(name, import.meta.url);
const text = readFileSync(here("../vectors.json"), "utf8");
const vectors = JSON.parse(text);
const contract = new CallData(JSON.parse(readFileSync(here("abi.json"), "utf8")));

function swapArguments({ route, swap_parameters }) {
  const amounts = { amount_in: cairo.uint256(route.amount_in), min_received: cairo.uint256(route.min_received) };
  return [{ ...route, ...amounts }, swap_parameters];
}

let differences = 0;
function compare(what, made, expected) {
  if (JSON.stringify(made) === JSON.stringify(expected)) return;
  differences += 1;
  console.error(`${what}: ${JSON.stringify(made)} instead of ${JSON.stringify(expected)}`);
}

// starknet.js writes felts as decimal strings: that is compared too.
const decimal = (felts) => felts.map((felt) => BigInt(felt).toString());
for (const [number, one] of vectors.swap.entries())
  compare(`swap ${number}`, [...contract.compile("swap", swapArguments(one))], decimal(one.felts));
for (const [number, one] of vectors.approve.entries())
  compare(`approve ${number}`, [...contract.compile("approve", [one.spender, cairo.uint256(one.amount)])], decimal(one.felts));
for (const [name, selector] of Object.entries(vectors.selectors))
  compare(`selector of ${name}`, hash.getSelectorFromName(name), selector);

console.log(`${vectors.swap.length + vectors.approve.length} calls compared, ${differences} differences`);
if (differences) process.exit(1);
writeFileSync(here("../vectors.json"), text.replace(/("made_with":\{"starknet-py":"[^"]*")[^}]*/, `$1,"starknet.js":"${version}"`));
