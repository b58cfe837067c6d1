import { DomainError } from './errors.ts';

/** Why people would not find something again under this name, or null: some characters are seen by nobody. */
export function findUnseenFault(name: string): string | null {
  if (name.trim() === '') return 'must not be blank';
  if (name !== name.trim()) return 'begins or ends with a blank';
  return /[\p{Cc}\p{Zl}\p{Zp}]/u.test(name) ? 'contains a control character, such as a line break or a tab' : null;
}

/** Refuses a name with characters that nobody sees instead of changing it. */
export function requireName(name: string, pointer: string): string {
  const why = findUnseenFault(name);
  if (why === null) return name;
  throw new DomainError('validation-failed', `${pointer}: ${why}.`, 'Send the name without blanks at its ends and control characters.', {
    errors: [{ pointer, detail: why }],
  });
}
