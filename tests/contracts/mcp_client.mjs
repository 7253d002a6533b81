// Calls tools as agents do: node mcp_client.mjs PACKAGE COMMAND ARGUMENT..., where PACKAGE is sdk or client, the two
// official SDKs. Reads {"calls": [[name, arguments], ...]} from stdin, and prints what the client sees.
const [library, command, ...args] = process.argv.slice(2);

async function load() {
  if (library === "client") {
    const [{ Client }, { StdioClientTransport }] = await Promise.all([
      import("@modelcontextprotocol/client"),
      import("@modelcontextprotocol/client/stdio"),
    ]);
    return { Client, StdioClientTransport };
  }
  const [{ Client }, { StdioClientTransport }] = await Promise.all([
    import("@modelcontextprotocol/sdk/client/index.js"),
    import("@modelcontextprotocol/sdk/client/stdio.js"),
  ]);
  return { Client, StdioClientTransport };
}

async function read(stream) {
  const parts = [];
  for await (const part of stream) parts.push(part);
  return JSON.parse(Buffer.concat(parts).toString());
}

const { Client, StdioClientTransport } = await load();
const { calls } = await read(process.stdin);
const client = new Client({ name: "test", version: "1" });
await client.connect(new StdioClientTransport({ command, args, env: process.env }));

const { tools } = await client.listTools();
const { resources } = await client.listResources();
const { prompts } = await client.listPrompts();
let reports = 0;
const results = await Promise.all(
  calls.map(async ([name, given]) => {
    try {
      const options = { onprogress: () => (reports += 1) };
      const result =
        library === "client"
          ? await client.callTool({ name, arguments: given }, options)
          : await client.callTool({ name, arguments: given }, undefined, options);
      return { isError: result.isError ?? false, content: result.content };
    } catch (error) {
      return { thrown: String(error) };
    }
  }),
);
const links = results.flatMap((each) => each.content ?? []).filter((each) => each.type === "resource_link");
const read_links = await Promise.all(links.map(async ({ uri }) => (await client.readResource({ uri })).contents[0].text));
const names = (listed) => listed.map((each) => each.name);
console.log(JSON.stringify({ tools: names(tools), resources: resources.map((each) => each.uri), prompts: names(prompts), results, links: read_links, reports }));
await client.close();
