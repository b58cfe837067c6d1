import { DomainError } from './errors.ts';

/** Why people would not find something again under this name, or null: blanks at its ends are seen by nobody. */
export function findBlankFault(name: string): string | null {
  if (name.trim() === '') return 'must not be blank';
  return name === name.trim() ? null : 'begins or ends with a blank';
}

/** Refuses a name with blanks at its ends instead of changing it. */
export function requireName(name: string, pointer: string): string {
  const why = findBlankFault(name);
  if (why === null) return name;
  throw new DomainError('validation-failed', `${pointer}: ${why}.`, 'Send the name without blanks at its ends.', {
    errors: [{ pointer, detail: why }],
  });
}
