// Calls each of ragd's tools with the official TypeScript SDK, which checks
// every structuredContent against the tool's output schema.
//   node tools.mjs RAGD [ARGS…]     RAGD ARGS… speaks MCP on stdin and stdout
// Prints a line for each tool; the exit code is 1 when one failed. The index
// must hold a knowledge base "notes" with a document house.md.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

const [command, ...args] = process.argv.slice(2);
const client = new Client({ name: 'sdk-check', version: '1.0.0' });
await client.connect(new StdioClientTransport({ command, args, env: process.env }));

const calls = {
  rag_list_kbs: {},
  rag_list_documents: { kb: 'notes' },
  rag_search: { query: 'who services the boiler', wait_ms: 5000 },
  rag_read: { kb: 'notes', path: 'house.md' },
  rag_add_document: { kb: 'scratch', path: 'new.md', content: '# New\n\ntext' },
  rag_delete_document: { kb: 'scratch', path: 'new.md' },
  rag_delete_kb: { kb: 'scratch', confirm: true },
  rag_reindex: {},
  rag_status: {},
  rag_jobs: {},
  capsid_find_docs: { action: 'search', query: 'boiler', mode: 'keyword' },
  list_chunks: { prefix: 'notes/' },
  knowledge_status: { projectId: 'notes' },
  search_knowledge: { query: 'boiler' },
};

let failed = 0;
const check = async (what, run) => {
  try {
    console.log(`ok ${what}: ${await run()}`);
  } catch (err) {
    failed++;
    console.log(`FAILED ${what}: ${err.message}`);
  }
};

const { tools } = await client.listTools(); // from here on the SDK validates results
const names = tools.map((t) => t.name).sort();
if (names.join() !== Object.keys(calls).sort().join()) {
  failed++;
  console.log(`FAILED list: ${names}`);
}
for (const [name, args] of Object.entries(calls)) {
  await check(name, async () => {
    const r = await client.callTool({ name, arguments: args });
    if (r.isError || !r.structuredContent || r.content.length !== 1) throw new Error(JSON.stringify(r));
    return r.content[0].text.split('\n')[0].slice(0, 70);
  });
}
await check('a refusal', async () => {
  const r = await client.callTool({ name: 'rag_search', arguments: { query: 'x', top_k: 0 } });
  if (!r.isError || !r.structuredContent.code) throw new Error(JSON.stringify(r));
  return r.structuredContent.code;
});
await check('resources', async () => (await client.listResources()).resources.length);
await check('prompts', async () => (await client.listPrompts()).prompts.map((p) => p.name));
await client.close();
process.exit(failed ? 1 : 0);
