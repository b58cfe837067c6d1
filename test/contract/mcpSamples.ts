import type { OperationId } from '../../api/http/contract.ts';
import type { MakeSample } from './sample.ts';
import type { World } from './world.ts';

const accept = 'application/json, text/event-stream';
const version = '2025-11-25';

async function post(world: World, body: object, headers: Record<string, string> = {}): Promise<Response> {
  return world.api.fetch('/mcp', {
    method: 'POST',
    token: world.owner.session,
    headers: { 'Content-Type': 'application/json', Accept: accept, ...headers },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...body }),
  });
}

async function beginSession(world: World): Promise<Record<string, string>> {
  const params = { protocolVersion: version, capabilities: {}, clientInfo: { name: 'sample', version: '1' } };
  const answer = await post(world, { method: 'initialize', params });
  return { 'Mcp-Session-Id': answer.headers.get('mcp-session-id') ?? '', 'MCP-Protocol-Version': version };
}

/** The id of the first event of an answer. */
async function callByStream(world: World, session: Record<string, string>): Promise<string> {
  const params = { name: 'create_workbook', arguments: { title: 'Sample' } };
  const answer = await post(world, { method: 'tools/call', params }, session);
  return /^id: (.*)$/m.exec(await answer.text())?.[1] ?? '';
}

export const mcpSamples = {
  postMcp: async (world) => ({
    path: '/mcp',
    headers: { Accept: accept, ...(await beginSession(world)) },
    body: { jsonrpc: '2.0', id: 1, method: 'tools/list' },
  }),
  async openMcpStream(world) {
    const session = await beginSession(world);
    return { path: '/mcp', headers: { Accept: 'text/event-stream', ...session, 'Last-Event-ID': await callByStream(world, session) } };
  },
  closeMcpSession: async (world) => ({ path: '/mcp', headers: await beginSession(world) }),
} satisfies Partial<Record<OperationId, MakeSample>>;
