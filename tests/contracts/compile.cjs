// Reads {"entries": [...], "settings": {...}, "root": path, "solc": package} on stdin, writes {contractName: {abi, bytecode, runtime}} of
// those files to stdout: what deploys a contract, and what then runs. An entry is a path under `root`, this folder or
// node_modules; imports are looked up in the same places. `settings` are solc's own, without the choice of outputs;
// `root` may be left out.
const fs = require("fs");
const path = require("path");

const { entries, settings, root, solc: compiler } = JSON.parse(fs.readFileSync(0, "utf8"));
const solc = require(compiler);
const roots = [...(root ? [root] : []), __dirname, path.join(__dirname, "node_modules")];

function find(name) {
  for (const folder of roots) {
    const file = path.join(folder, name);
    if (fs.existsSync(file)) return { contents: fs.readFileSync(file, "utf8") };
  }
  return { error: `${name} not found` };
}

// Of the entries alone: code of what they import takes most of the time, and nobody reads it.
const wanted = { "*": ["abi", "evm.bytecode.object", "evm.deployedBytecode.object"] };
const input = {
  language: "Solidity",
  sources: Object.fromEntries(entries.map((name) => [name, { content: find(name).contents || "" }])),
  settings: { ...settings, outputSelection: Object.fromEntries(entries.map((name) => [name, wanted])) },
};
const output = JSON.parse(solc.compile(JSON.stringify(input), { import: find }));
const messages = (output.errors || []).map((e) => e.formattedMessage).join("\n");
if ((output.errors || []).some((e) => e.severity === "error")) {
  process.stderr.write(messages);
  process.exit(1);
}
process.stderr.write(root ? messages : ""); // what comes from packages warns a lot
const contracts = {};
for (const name of entries)
  for (const [contract, { abi, evm }] of Object.entries(output.contracts[name] || {}))
    contracts[contract] = { abi, bytecode: evm.bytecode.object, runtime: evm.deployedBytecode.object };
process.stdout.write(JSON.stringify(contracts));
