import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import {
  CallToolRequestSchema,
  ErrorCode,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  McpError,
  ReadResourceRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv-provider.js';
import { callTool, describeInput, findTool } from './callTool.ts';
import { explainFailure, listResources, readResource, resourceTemplates } from './resources.ts';
import type { ToolContext } from './tool.ts';
import { tools } from './tools/index.ts';

const instructions = `Workbooks hold typed tables made from spreadsheets and other files. Begin with list_workbooks, then list_tables; get_schema and
profile_table tell what is in a table. Use query (SQL) to compute, read_rows to see rows and their ids. Edits need the edit_version
that you read as expected_version; when a table has changed meanwhile, read it again. Long answers come in pages: send next_cursor
as cursor. A refused call says what to do.`;

const listed = tools.map((tool) => ({
  name: tool.name,
  title: tool.title,
  description: tool.description,
  inputSchema: describeInput(tool),
  ...(tool.output ? { outputSchema: tool.output as { type: 'object' } } : {}),
  annotations: { title: tool.title, ...tool.annotations },
}));

// Making one takes longer than all else here.
const jsonSchemaValidator = new AjvJsonSchemaValidator();

/** The protocol's side of one request. Sessions lie in the database, so nothing has to be remembered between requests. */
export function makeServer(version: string, context: ToolContext): Server {
  const { ask, actor } = context;
  const server = new Server(
    { name: 'workbook-data-service', title: 'Workbook Data Service', version },
    { capabilities: { tools: {}, resources: {} }, instructions, jsonSchemaValidator },
  );
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: listed }));
  server.setRequestHandler(CallToolRequestSchema, ({ params }) => {
    const tool = findTool(params.name);
    if (!tool) throw new McpError(ErrorCode.InvalidParams, `There is no tool ${params.name}; tools/list lists them.`);
    return callTool(tool, context, params.arguments ?? {});
  });
  server.setRequestHandler(ListResourceTemplatesRequestSchema, () => ({ resourceTemplates }));
  server.setRequestHandler(ListResourcesRequestSchema, ({ params }) => explainFailure(actor.requestId, listResources(ask, params?.cursor)));
  server.setRequestHandler(ReadResourceRequestSchema, ({ params }) => explainFailure(actor.requestId, readResource(ask, params.uri)));
  return server;
}
