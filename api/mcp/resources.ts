import { ErrorCode, type ListResourcesResult, McpError, type ReadResourceResult } from '@modelcontextprotocol/sdk/types.js';
import { DomainError } from '../../core/errors.ts';
import type { Ask } from './askOperation.ts';
import { describeProblem } from './describeProblem.ts';
import { fitPage } from './pages.ts';

const rowsAtOnce = 100;
const listedAtOnce = 100;
const mimeType = 'application/json';
/** As the protocol numbers it. */
const resourceNotFound = -32002;

export const resourceTemplates = [
  {
    uriTemplate: 'workbook://{workbook_id}/tables/{table}',
    name: 'table',
    title: 'A table',
    description: `The first rows of a table, ${rowsAtOnce} at most, with its columns and version.`,
    mimeType,
  },
  {
    uriTemplate: 'workbook://{workbook_id}/tables/{table}/schema',
    name: 'table-schema',
    title: 'Columns of a table',
    description: 'Columns of a table with types and descriptions, and a sample.',
    mimeType,
  },
];

interface ListedArtifact {
  name: string;
  type: string;
  description?: string | null;
  workbook_id?: string;
  row_count?: number | null;
}

/** The tables and views of all workbooks that the credential reaches. */
export async function listResources(ask: Ask, cursor: string | undefined): Promise<ListResourcesResult> {
  const { body } = await ask('listMyData', { query: { limit: listedAtOnce, cursor } });
  const { artifacts, next_cursor } = body as { artifacts: ListedArtifact[]; next_cursor: string | null };
  const tables = artifacts.filter(({ type }) => type === 'table' || type === 'view');
  return {
    resources: tables.map(({ name, description, workbook_id, row_count }) => ({
      uri: `workbook://${workbook_id}/tables/${encodeURIComponent(name)}`,
      name,
      description: description ?? `${row_count ?? 0} rows`,
      mimeType,
    })),
    ...(next_cursor === null ? {} : { nextCursor: next_cursor }),
  };
}

export async function readResource(ask: Ask, uri: string): Promise<ReadResourceResult> {
  const [, workbookId, table, schema] = /^workbook:\/\/([^/]+)\/tables\/([^/]+)(\/schema)?$/.exec(uri) ?? [];
  if (workbookId === undefined || table === undefined) throw new McpError(resourceNotFound, `${uri} is not the address of a table`);
  const params = { workbook_id: workbookId, name: decode(table) };
  const read = async (limit: number) =>
    (schema ? await ask('getTableSchema', { params }) : await ask('readRows', { params, query: { limit } })).body as Record<
      string,
      unknown
    >;
  return { contents: [{ uri, mimeType, text: JSON.stringify(schema ? await read(0) : await fitPage(rowsAtOnce, read)) }] };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Resources have no other way to tell what is wrong than an error of the protocol. */
export async function explainFailure<T>(requestId: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof McpError) throw error;
    const code =
      error instanceof DomainError ? (error.status === 404 ? resourceNotFound : ErrorCode.InvalidParams) : ErrorCode.InternalError;
    throw new McpError(code, describeProblem(error, requestId));
  }
}
