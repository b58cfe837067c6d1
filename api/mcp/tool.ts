import type { ToolAnnotations } from '@modelcontextprotocol/sdk/types.js';
import type { Principal } from '../../core/access/principal.ts';
import type { Actor } from '../../store/pg/commit.ts';
import type { Services } from '../../store/services.ts';
import type { Ask } from './askOperation.ts';

export type JsonSchema = Record<string, unknown>;
export type Arguments = Record<string, unknown>;

/** What a tool works with. */
export interface ToolContext {
  services: Services;
  principal: Principal;
  actor: Actor;
  ask: Ask;
}

export interface Picture {
  png: Buffer;
}

export interface Tool {
  name: string;
  title: string;
  description: string;
  /** The properties of its arguments; those in `required` must be there, others than these are refused. */
  input: Record<string, JsonSchema>;
  required?: string[];
  /** Null: it answers with a picture. */
  output: JsonSchema | null;
  annotations: ToolAnnotations;
  run(context: ToolContext, given: Arguments): Promise<Record<string, unknown> | Picture>;
}

/** Asking again changes nothing, so its answers need not be kept. */
export const readsOnly: ToolAnnotations = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };

export const text = (description: string, more: JsonSchema = {}): JsonSchema => ({ type: 'string', description, ...more });
export const whole = (description: string, more: JsonSchema = {}): JsonSchema => ({ type: 'integer', description, ...more });
export const list = (description: string, items: JsonSchema = {}): JsonSchema => ({ type: 'array', description, items });
const orNull = (schema: JsonSchema): JsonSchema => ({ ...schema, type: [schema.type, 'null'].flat() });

/** An object with at least these members. */
export const shape = (properties: Record<string, JsonSchema>, required = Object.keys(properties)): JsonSchema => ({
  type: 'object',
  properties,
  required,
});

export const workbookId = text('Id of the workbook, from list_workbooks.', { minLength: 1 });
export const table = text('Name of the table, from list_tables.', { minLength: 1 });
export const cursor = text('`next_cursor` of the page before.', { minLength: 1 });
export const nextCursor = orNull(text('Cursor of the next page; null on the last.'));
export const limit = (usual: number, most: number) => whole(`Most items of a page; ${usual} if left out.`, { minimum: 1, maximum: most });
export const expectedVersion = orNull(whole('The `edit_version` that you read. Null writes without a check.', { minimum: 0 }));
export const idempotencyKey = text('Any text of your own. A repeated call with the same key and arguments has no second effect.', {
  minLength: 1,
  maxLength: 200,
});

export const paramsOf = ({ workbook_id, table: name }: Arguments): Record<string, string> => ({
  workbook_id: String(workbook_id),
  ...(name === undefined ? {} : { name: String(name) }),
});

/** The members of an object that have these names. */
export function pick(from: unknown, names: string[]): Record<string, unknown> {
  const all = (from ?? {}) as Record<string, unknown>;
  return Object.fromEntries(names.filter((name) => all[name] !== undefined).map((name) => [name, all[name]]));
}
