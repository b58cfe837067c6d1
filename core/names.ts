import { DomainError } from './errors.ts';

/** Control characters and line ends. */
const control = /[\p{Cc}\p{Zl}\p{Zp}]/u;
/**
 * Blanks without width, and changes of direction, which show other characters in another order than they are written. Joiners
 * and variation selectors are none of them: words and ideographs of many languages need these.
 */
const deceiving = /[\u200b\u2060\ufeff\u202a-\u202e\u2066-\u2069]/u;
const unseen = new RegExp(`${control.source}|${deceiving.source}`, 'gu');

const isSeen = (name: string) => name.replace(/\p{Default_Ignorable_Code_Point}/gu, '').trim() !== '';

/** Why people would not find something again under this name, or null: some characters are seen by nobody. */
export function findUnseenFault(name: string): string | null {
  if (!isSeen(name)) return 'must not be blank';
  if (name !== name.trim()) return 'begins or ends with a blank';
  if (control.test(name)) return 'contains a control character, such as a line break or a tab';
  const [found] = deceiving.exec(name) ?? [];
  return found ? `contains U+${found.charCodeAt(0).toString(16).toUpperCase()}, which nobody sees` : null;
}

/** The name without the characters that nobody sees; empty if nothing else is left. */
export function dropUnseen(name: string): string {
  const seen = name.replace(unseen, '').trim();
  return isSeen(seen) ? seen : '';
}

/** Refuses a name with characters that nobody sees instead of changing it. */
export function requireName(name: string, pointer: string): string {
  const why = findUnseenFault(name);
  if (why === null) return name;
  throw new DomainError('validation-failed', `${pointer}: ${why}.`, 'Send the name without blanks at its ends and control characters.', {
    errors: [{ pointer, detail: why }],
  });
}
