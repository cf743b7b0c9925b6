// Runs the server scenarios of the MCP project's conformance package that
// apply to ragd, over a bridge from streamable HTTP, the only transport they
// speak, to standard input and output.
//   node conformance.mjs RAGD [ARGS…]     RAGD ARGS… speaks MCP on stdin and stdout
// The scenarios call tools, prompts and resources of a test server by name; the
// bridge puts ragd's own in their place, and changes nothing else. The index
// must hold the documents notes/house.md, notes/123.md (with 123 in it) and a
// knowledge base testValue2. Prints a line for each scenario.
import { spawn, spawnSync } from 'node:child_process';
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';

const [command, ...args] = process.argv.slice(2);

const scenarios = [
  'server-initialize', 'logging-set-level', 'ping', 'completion-complete', 'tools-list', 'tools-call-simple-text', 'tools-call-error',
  'resources-list', 'resources-read-text', 'resources-templates-read', 'prompts-list', 'prompts-get-simple', 'prompts-get-with-args',
];
const notOurs = {
  'tools-call-image, -audio, -embedded-resource, -mixed-content, prompts-get-with-image, -embedded-resource': 'ragd answers with text and structured content',
  'resources-read-binary': 'what ragd reads is text',
  'tools-call-sampling, -elicitation, elicitation-*': 'ragd asks nothing of its clients',
  'tools-call-with-logging, -with-progress': 'want three notifications at fixed moments of a call',
  'resources-subscribe, -unsubscribe': 'not offered, and not among the capabilities',
  'json-schema-2020-12': 'looks for a tool of the test server',
  'server-sse-*, dns-rebinding-protection': 'test HTTP, which is the bridge here',
};

const instead = {
  'tools/call': (p) => {
    if (p.name === 'test_simple_text') return { name: 'rag_status', arguments: {} };
    if (p.name === 'test_error_handling') return { name: 'rag_search', arguments: {} };
    return p;
  },
  'resources/read': (p) => ({ uri: { 'test://static-text': 'rag://notes/house.md', 'test://template/123/data': 'rag://notes/123.md' }[p.uri] ?? p.uri }),
  'prompts/get': (p) => {
    if (p.name === 'test_simple_prompt') return { name: 'what_changed', arguments: { kb: 'notes' } };
    if (p.name === 'test_prompt_with_arguments') return { name: 'answer_from_knowledge', arguments: { question: p.arguments.arg1, kb: p.arguments.arg2 } };
    return p;
  },
  'completion/complete': (p) => (p.ref?.name === 'test_prompt_with_arguments' ? { ref: { type: 'ref/prompt', name: 'answer_from_knowledge' }, argument: { name: 'kb', value: p.argument.value } } : p),
};

let sessions = 0;
const open = new Map(); // by session id

function start() {
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const session = { child, waiting: new Map(), current: null };
  createInterface({ input: child.stdout }).on('line', (line) => {
    const message = JSON.parse(line);
    const reply = message.id !== undefined && !message.method;
    const res = reply ? session.waiting.get(message.id) : session.current;
    res?.write(`event: message\ndata: ${line}\n\n`);
    if (reply) {
      res?.end();
      session.waiting.delete(message.id);
    }
  });
  return session;
}

const server = createServer(async (req, res) => {
  let id = req.headers['mcp-session-id'];
  if (req.method === 'DELETE') {
    open.get(id)?.child.kill();
    open.delete(id);
    return res.writeHead(200).end();
  }
  if (req.method !== 'POST') return res.writeHead(405).end();
  let body = '';
  for await (const part of req) body += part;
  const message = JSON.parse(body);
  if (message.method === 'initialize') {
    id = `s${++sessions}`;
    open.set(id, start());
  }
  const session = open.get(id);
  if (!session) return res.writeHead(404).end();
  if (instead[message.method]) message.params = { ...message.params, ...instead[message.method](message.params) };
  if (message.id === undefined) {
    session.child.stdin.write(`${JSON.stringify(message)}\n`);
    return res.writeHead(202).end();
  }
  res.writeHead(200, { 'content-type': 'text/event-stream', 'mcp-session-id': id });
  session.waiting.set(message.id, res);
  session.current = res;
  session.child.stdin.write(`${JSON.stringify(message)}\n`);
});

await new Promise((up) => server.listen(0, '127.0.0.1', up));
const url = `http://127.0.0.1:${server.address().port}/mcp`;
const run = (scenario) => new Promise((done) => {
  const child = spawn('node', ['node_modules/.bin/conformance', 'server', '--url', url, '--scenario', scenario], { stdio: ['ignore', 'pipe', 'pipe'] });
  let out = '';
  child.stdout.on('data', (d) => (out += d));
  child.stderr.on('data', (d) => (out += d));
  child.on('exit', (code) => done({ code, out }));
});

const version = spawnSync('node', ['node_modules/.bin/conformance', '--version'], { encoding: 'utf8' });
if (version.status !== 0) {
  console.log(`SKIPPED: the conformance package does not run with node ${process.version}`);
  process.exit(0);
}
console.log(`conformance ${version.stdout.trim()}`);
let failed = 0;
for (const scenario of scenarios) {
  const { code, out } = await run(scenario);
  if (code !== 0) failed++;
  console.log(`${code === 0 ? 'ok' : 'FAILED'} ${scenario}${code === 0 ? '' : `\n${out}`}`);
}
for (const [names, why] of Object.entries(notOurs)) console.log(`not run: ${names}: ${why}`);
for (const { child } of open.values()) child.kill();
server.close();
process.exit(failed ? 1 : 0);
