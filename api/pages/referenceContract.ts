import type { Document } from 'openapi-backend';
import { toOpenApi30 } from './openApi30.ts';

interface ShownOperation {
  description?: string;
  security?: Record<string, string[]>[];
  'x-scopes'?: string[];
}

/** How the kinds of bearer token are called, by the names that they have in the contract. */
const bearerKinds: Record<string, string> = {
  accessToken: 'a personal access token',
  accountKey: 'an account key',
  session: 'a session',
};

const bearer = {
  type: 'http',
  scheme: 'bearer',
  description:
    'A personal access token (`svc_pat_…`), an account key (`svc_key_…`) or a session token, without the word "Bearer". Each operation says which of them it takes.',
};

/**
 * The contract as the reference page shows it: one box for the bearer token of whichever kind, and it comes first. What the
 * box cannot say then, which kinds and scopes an operation takes, stands in its description.
 */
export function describeForReader(contract: Document): unknown {
  const { securitySchemes = {}, ...components } = contract.components ?? {};
  const others = Object.entries(securitySchemes).filter(([name]) => !Object.hasOwn(bearerKinds, name));
  const paths = Object.entries(contract.paths ?? {}).map(([path, item]) => [path, mapOperations(item as object)]);
  return toOpenApi30({
    ...contract,
    openapi: '3.0.3',
    paths: Object.fromEntries(paths),
    components: { ...components, securitySchemes: { bearer, ...Object.fromEntries(others) } },
  });
}

function mapOperations(item: object): object {
  return Object.fromEntries(
    Object.entries(item).map(([method, operation]) => [method, isOperation(operation) ? describeOperation(operation) : operation]),
  );
}

const isOperation = (value: unknown): value is ShownOperation => typeof value === 'object' && value !== null && 'operationId' in value;

function describeOperation(operation: ShownOperation): ShownOperation {
  const names = (operation.security ?? []).flatMap((scheme) => Object.keys(scheme));
  const kinds = names.flatMap((name) => bearerKinds[name] ?? []);
  if (kinds.length === 0) return operation;
  const scopes = (operation['x-scopes'] ?? []).map((scope) => `\`${scope}\``);
  const needs = scopes.length > 0 ? ` with ${scopes.join(', ')}` : '';
  return {
    ...operation,
    description: `${operation.description ?? ''}\n\nTakes ${listChoices(kinds)}${needs}.`,
    security: [{ bearer: [] }],
  };
}

/** "a", "a or b", "a, b or c". */
function listChoices(choices: string[]): string {
  return choices.length < 2 ? choices.join('') : `${choices.slice(0, -1).join(', ')} or ${choices.at(-1)}`;
}
