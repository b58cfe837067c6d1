import { DomainError } from '../../core/errors.ts';

/** Of two parameters that exclude each other only one may be sent. */
export function refuseBoth<Name extends string>(query: { [name in Name]?: unknown }, one: Name, other: Name): void {
  if (query[one] === undefined || query[other] === undefined) return;
  throw new DomainError('validation-failed', `${one} and ${other} exclude each other.`, 'Send one of them.', {
    errors: [{ pointer: `/query/${other}`, detail: `not together with ${one}` }],
  });
}
