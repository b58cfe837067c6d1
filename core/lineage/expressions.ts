import type { Origin, PartOrigins } from './relation.ts';
import { mix } from './relation.ts';

/** A part of DuckDB's bound plan as JSON: an operator or an expression. */
export type Node = Record<string, unknown>;

export const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && !Array.isArray(value);
export const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

/** Finds what a reference means: by place among the outputs of the operators below, or by the number of the operator. */
export interface References {
  byPlace(index: number): Origin;
  byOperator(operator: number, column: number): Origin;
}

const known = new Set([
  'BOUND_AGGREGATE',
  'BOUND_BETWEEN',
  'BOUND_CASE',
  'BOUND_CAST',
  'BOUND_COMPARISON',
  'BOUND_CONJUNCTION',
  'BOUND_CONSTANT',
  'BOUND_FUNCTION',
  'BOUND_LAMBDA',
  'BOUND_LAMBDA_REF',
  'BOUND_OPERATOR',
  'BOUND_UNNEST',
  'BOUND_WINDOW',
]);

/** What an expression, or a list of them, reads. An unknown kind of expression reads everything (`all`). */
export function readExpression(value: unknown, references: References, all: Origin): Origin {
  const found: Origin[] = [];
  collect(value, references, all, found);
  return mix([...new Set(found)]);
}

function collect(value: unknown, references: References, all: Origin, found: Origin[]): void {
  if (Array.isArray(value)) for (const item of value) collect(item, references, all, found);
  if (!isNode(value)) return;
  const kind = value.expression_class;
  if (kind === 'BOUND_REF') found.push(references.byPlace(Number(value.index)));
  else if (kind === 'BOUND_COLUMN_REF') found.push(readBinding(value, references));
  else if (kind !== undefined && !known.has(String(kind))) found.push(all);
  else if (kind !== 'BOUND_CONSTANT')
    for (const [field, content] of Object.entries(value)) {
      // The body of a lambda counts its own parameters; what it takes from outside is among the function's arguments too.
      if (field !== 'lambda_expr' && field !== 'return_type') collect(content, references, all, found);
    }
}

function readBinding({ binding }: Node, references: References): Origin {
  const { table_index: operator, column_index: column } = isNode(binding) ? binding : {};
  return references.byOperator(Number(operator), Number(column));
}

/** References into the outputs of one part of the query. */
export function refersTo(part: PartOrigins, all: Origin, operators: ReadonlyMap<number, Origin[]>): References {
  return {
    byPlace: (index) => part.columns?.[index] ?? all,
    byOperator: (operator, column) => operators.get(operator)?.[column] ?? all,
  };
}
