// Reads {"entries": [...], "runs": n} on stdin, writes {contractName: {abi, bytecode}} of those files to stdout.
// An entry is a path under this folder or under node_modules; imports are looked up in the same two places.
const fs = require("fs");
const path = require("path");
const solc = require("solc");

function find(name) {
  for (const root of [__dirname, path.join(__dirname, "node_modules")]) {
    const file = path.join(root, name);
    if (fs.existsSync(file)) return { contents: fs.readFileSync(file, "utf8") };
  }
  return { error: `${name} not found` };
}

const { entries, runs } = JSON.parse(fs.readFileSync(0, "utf8"));
const input = {
  language: "Solidity",
  sources: Object.fromEntries(entries.map((name) => [name, { content: find(name).contents || "" }])),
  settings: {
    evmVersion: "cancun",
    optimizer: { enabled: true, runs },
    outputSelection: { "*": { "*": ["abi", "evm.bytecode.object"] } },
  },
};
const output = JSON.parse(solc.compile(JSON.stringify(input), { import: find }));
const errors = (output.errors || []).filter((e) => e.severity === "error");
if (errors.length) {
  process.stderr.write(errors.map((e) => e.formattedMessage).join("\n"));
  process.exit(1);
}
const contracts = {};
for (const name of entries)
  for (const [contract, { abi, evm }] of Object.entries(output.contracts[name] || {}))
    contracts[contract] = { abi, bytecode: evm.bytecode.object };
process.stdout.write(JSON.stringify(contracts));
