#!/usr/bin/env node
// The pinned compiler behind solc's own command line, as far as tools ask for it: --version and --standard-json.
const fs = require("fs");
const solc = require("solc");

if (process.argv.includes("--version")) {
  console.log(`solc, the solidity compiler commandline interface\nVersion: ${solc.version()}`);
} else {
  process.stdout.write(solc.compile(fs.readFileSync(0, "utf8")));
}
