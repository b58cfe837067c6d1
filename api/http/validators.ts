import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/** What says whether an answer is still the one that a client has: equal validators mean equal content. */
export interface Validator {
  /** The edit version of the table that is shown, which `If-Match` gives back. */
  version?: number;
  /** A hash of the content, or of everything that decides it, what the caller may see included. */
  print: string;
  /** The content is the same, but its bytes may differ from one answer to the next. */
  isWeak?: boolean;
}

export function hashContent(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex').slice(0, 24);
}

const codings = ['br', 'gzip'] as const;
export type Coding = (typeof codings)[number];

/** A strong tag stands for certain bytes, so each coding has one of its own. */
export function writeTag(validator: Validator, coding: Coding | null): string {
  return `${validator.isWeak ? 'W/' : ''}"${writeOpaque(validator)}${coding ? `-${coding}` : ''}"`;
}

export const isRead = ({ method }: IncomingMessage) => method === 'GET' || method === 'HEAD';

/** The tag by which the client has this content already, in whatever coding it has it. */
export function findSeen(request: IncomingMessage, validator: Validator): string | undefined {
  const header = request.headers['if-none-match'];
  if (header === undefined || !isRead(request)) return undefined;
  if (header.trim() === '*') return writeTag(validator, null);
  const opaque = writeOpaque(validator);
  const tags = header.match(/(?:W\/)?"[^"]*"/g) ?? [];
  return tags.find((tag) => tag.replace(/^W\//, '').slice(1, -1).replace(codingSuffix, '') === opaque);
}

const codingSuffix = new RegExp(`-(${codings.join('|')})$`);

function writeOpaque({ version, print }: Validator): string {
  return version === undefined ? print : `${version}-${print}`;
}
