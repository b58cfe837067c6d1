import { acrossAccounts } from '../store/pg/accountScope.ts';
import { compareInTurn, report } from './measure.ts';
import type { BenchRig } from './services.ts';
import { TableRig } from './tableRig.ts';

const rounds = 200;
const mostMs = 5;
const tableRows = 10_000;

/** What a tool of MCP costs over the operation that it stands for, sent as an agent sends it. */
export async function benchMcp(rig: BenchRig): Promise<void> {
  const tables = await acrossAccounts(async () => {
    const made = await TableRig.open(rig);
    await made.makeTable('t', tableRows);
    return made;
  });
  const send = async (path: string, body: object, headers: Record<string, string> = {}) => {
    const answer = await fetch(`${rig.url}${path}`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${rig.token}`, 'Content-Type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
    const text = await answer.text();
    if (!answer.ok || text.includes('"isError":true')) throw new Error(text);
    return answer;
  };
  const accept = { Accept: 'application/json, text/event-stream', 'MCP-Protocol-Version': '2025-11-25' };
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'bench', version: '1' } };
  const begun = await send('/mcp', { jsonrpc: '2.0', id: 0, method: 'initialize', params }, accept);
  const session = { ...accept, 'Mcp-Session-Id': begun.headers.get('mcp-session-id') ?? '' };
  const call = (name: string, given: object) => {
    const called = { name, arguments: { workbook_id: tables.workbook.id, ...given } };
    return send('/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/call', params: called }, session);
  };
  const sql = (round: number) => `SELECT c7, sum(c3) AS s FROM t WHERE c8 > ${round} GROUP BY ALL ORDER BY ALL`;
  const row = (round: number) => ({ expected_version: null, rows: [{ c1: round, c2: 'x' }] });
  const times = await compareInTurn(
    {
      restQuery: (round) => send(`${tables.base}/query`, { sql: sql(round), limit: 100 }),
      mcpQuery: (round) => call('query', { sql: sql(round + rounds + 1) }),
      restEdit: (round) => send(`${tables.base}/tables/t/rows`, row(round)),
      mcpEdit: (round) => call('edit_rows', { table: 't', ...row(round) }),
    },
    rounds,
  );
  const compare = (what: string, mcp: number, rest: number) => {
    const over = mcp - rest;
    report(
      `${what}, MCP over REST (${mcp.toFixed(1)} and ${rest.toFixed(1)} ms)`,
      `${over.toFixed(1)} ms`,
      `<= ${mostMs} ms`,
      over <= mostMs,
    );
  };
  compare('query', times.mcpQuery, times.restQuery);
  compare('edit of a row', times.mcpEdit, times.restEdit);
}
