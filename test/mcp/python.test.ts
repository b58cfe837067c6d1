import { describe, expect, it } from 'vitest';
import { ok } from '../setup/api.ts';
import { mintToken } from '../setup/credentials.ts';
import { findPythonWith, runPython } from '../setup/pythonWith.ts';
import { useWorkbook } from '../tables/tableDriver.ts';

// Before the service starts, which must not stand still meanwhile.
const python = findPythonWith({ module: 'mcp', wanted: 'mcp==2.3.0', without: 'MCP is not tried with its Python client' });
const { api, world } = await useWorkbook();

/** What an agent in Python does: connects, lists, reads, queries, edits, is refused, and ends its session. */
const script = `
import asyncio, json, sys
import httpx2
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client

url, token, workbook_id = sys.argv[1:4]

async def main():
    async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=60) as http:
        async with streamable_http_client(url + "/mcp", http_client=http) as streams:
            async with ClientSession(streams[0], streams[1]) as session:
                started = await session.initialize()
                tools = (await session.list_tools()).tools
                resources = (await session.list_resources()).resources
                text = (await session.read_resource(resources[0].uri)).contents[0].text
                async def call(name, **given):
                    result = await session.call_tool(name, given)
                    return {"error": result.is_error, "structured": result.structured_content, "text": result.content[0].text}
                table = {"workbook_id": workbook_id, "table": "売上"}
                read = await call("read_rows", **table)
                version = read["structured"]["edit_version"]
                print(json.dumps({
                    "server": started.server_info.name,
                    "protocol": started.protocol_version,
                    "tools": [tool.name for tool in tools],
                    "resource": json.loads(text),
                    "read": read,
                    "edited": await call("edit_rows", **table, expected_version=version, rows=[{"金額": 7}]),
                    "sum": await call("query", workbook_id=workbook_id, sql="SELECT sum(金額) AS s FROM 売上"),
                    "conflict": await call("edit_rows", **table, expected_version=version, rows=[{"金額": 8}]),
                }))

asyncio.run(main())
`;

interface Called {
  error: boolean;
  structured: Record<string, unknown>;
  text: string;
}

describe.skipIf(python === null)('the Python client', () => {
  it('lists, reads, queries, edits and is refused', async () => {
    const table = await world.makeTable('売上', [{ name: '金額', type: 'BIGINT' }]);
    ok(await table.upsert([{ 金額: 1 }, { 金額: 2 }]));
    const { text: token } = await mintToken(world.owner.client, { scopes: ['workbooks:read', 'workbooks:write'] });
    const told = await runPython<Record<'read' | 'edited' | 'sum' | 'conflict', Called> & Record<string, unknown>>(
      python as string,
      script,
      api.url,
      token,
      world.workbookId,
    );
    expect(told.server).toBe('workbook-data-service');
    expect(told.tools).toContain('create_chart');
    expect(told.resource).toMatchObject({ name: '売上', rows: [{ 金額: 1 }, { 金額: 2 }] });
    expect(told.read).toMatchObject({ error: false, structured: { row_count: 2 } });
    expect(JSON.parse(told.read.text)).toEqual(told.read.structured);
    expect(told.edited).toMatchObject({ error: false, structured: { inserted: 1 } });
    expect(told.sum.structured.rows).toMatchObject([{ s: expect.anything() }]);
    expect(told.conflict).toMatchObject({ error: true, text: expect.stringContaining('409 version-conflict') });
    // It has closed its session.
    const { rows } = await api.sql.query('SELECT 1 FROM mcp_sessions');
    expect(rows).toEqual([]);
  });
});
