import type { ErrorObject } from 'ajv';
import { badSignature } from '../../activities/uploads/signSlot.ts';
import { DomainError, type ProblemItem } from '../../core/errors.ts';
import { refuseBadText } from './body.ts';
import { type Contract, formType, type Operation } from './contract.ts';

const thoroughUpTo = 256 * 1024;
const mostErrors = 50;

export interface Unvalidated {
  method: string;
  path: string;
  query: Record<string, string | string[]>;
  /** As they stand in the address. */
  queryNames: string[];
  headers: Record<string, string | string[]>;
  body: unknown;
  bodySize: number;
}

/** Checks parameters, headers and body against the contract; returns the query with numbers and booleans as such. */
export function validateRequest(contract: Contract, operation: Operation, request: Unvalidated): Record<string, unknown> {
  refuseBadText(request.query, '/query');
  // By hand as well: a name such as __proto__ gets lost when parameters become an object.
  const unknown = request.queryNames.filter((name) => !operation.queryNames.has(name));
  if (unknown.length > 0)
    throw refuse(
      unknown.slice(0, mostErrors).map((name) => ({ pointer: `/query/${name}`, detail: 'is not known here; check the spelling' })),
    );
  const input = { method: request.method, path: request.path, query: request.query, headers: request.headers, body: request.body };
  const result = contract.quick.validator.validateRequest(input, operation.backend);
  if (operation.isSigned && !result.valid) throw badSignature();
  // Bytes of any kind are left to the handler.
  if (operation.bodyRequired && request.body === undefined && !operation.bodyTypes.includes('*/*'))
    throw refuse([{ pointer: '', detail: operation.bodyTypes.includes(formType) ? 'a form is required' : 'a JSON body is required' }]);
  if (result.valid) return (result.coerced?.query ?? {}) as Record<string, unknown>;
  const errors =
    request.bodySize > thoroughUpTo
      ? result.errors
      : contract.thorough.validator.validateRequest(input, contract.thorough.router.getOperation(operation.id)).errors;
  throw refuse((errors ?? []).slice(0, mostErrors).map(explain));
}

function refuse(errors: ProblemItem[]): DomainError {
  const first = errors[0];
  const detail = first
    ? `${first.pointer || 'The request'}: ${first.detail}${errors.length > 1 ? ` (and ${errors.length - 1} more)` : ''}.`
    : 'The request does not fit the contract.';
  return new DomainError('validation-failed', detail, 'Correct what `errors` lists; /docs shows what this operation takes.', { errors });
}

function explain(error: ErrorObject): ProblemItem {
  const pointer = error.instancePath.replace(/^\/requestBody/, '');
  switch (error.keyword) {
    case 'additionalProperties':
      return { pointer: `${pointer}/${error.params.additionalProperty}`, detail: 'is not known here; check the spelling' };
    case 'required':
      return { pointer: `${pointer}/${error.params.missingProperty}`, detail: 'is required' };
    case 'enum':
      return {
        pointer,
        detail: `must be one of ${(error.params.allowedValues as unknown[]).map((value) => JSON.stringify(value)).join(', ')}`,
      };
    case 'pattern':
      return { pointer, detail: `must match ${error.params.pattern}` };
    default:
      return { pointer, detail: error.message ?? 'is not valid' };
  }
}
