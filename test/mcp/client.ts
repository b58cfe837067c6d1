import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

export interface Connected {
  client: Client;
  transport: StreamableHTTPClientTransport;
  /** Calls a tool that must succeed; returns its structured content. */
  call<T = Record<string, unknown>>(name: string, given?: Record<string, unknown>): Promise<T>;
  /** Calls a tool that must be refused; returns the text. */
  refusal(name: string, given?: Record<string, unknown>): Promise<string>;
}

/** The official client. It holds structured content against the output schema of the tool. */
export async function connect(url: string, token: string): Promise<Connected> {
  const transport = new StreamableHTTPClientTransport(new URL(`${url}/mcp`), {
    requestInit: { headers: { Authorization: `Bearer ${token}` } },
  });
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(transport);
  await client.listTools();
  const textOf = (content: unknown) => (content as { text?: string }[])[0]?.text ?? '';
  return {
    client,
    transport,
    async call<T>(name: string, given: Record<string, unknown> = {}) {
      const { isError, structuredContent, content } = await client.callTool({ name, arguments: given });
      if (isError) throw new Error(textOf(content));
      return structuredContent as T;
    },
    async refusal(name, given = {}) {
      const { isError, content } = await client.callTool({ name, arguments: given });
      if (!isError) throw new Error(`${name} was not refused`);
      return textOf(content);
    },
  };
}
