import { makeSecret, sha256 } from '../../store/secrets.ts';

/** A token or key as text: kind, id, secret. The id finds the row, the secret proves it. */
const shape = /^svc_(pat|key)_([0-9A-HJKMNP-TV-Z]{26})([A-Za-z0-9_-]{43})$/;

export function makeTokenText(id: string): { text: string; secretHash: string; prefix: string } {
  const [kind, ulid] = id.split('_') as [string, string];
  const secret = makeSecret();
  const marker = `svc_${kind === 'tok' ? 'pat' : 'key'}_`;
  return { text: `${marker}${ulid}${secret}`, secretHash: hashSecret(secret), prefix: `${marker}${ulid}…` };
}

export function parseTokenText(text: string): { id: string; secretHash: string } | null {
  const match = shape.exec(text);
  if (!match) return null;
  return { id: `${match[1] === 'pat' ? 'tok' : 'key'}_${match[2]}`, secretHash: hashSecret(match[3] as string) };
}

// 256 random bits need no slow hash, and this runs on every request.
function hashSecret(secret: string): string {
  return sha256(secret).toString('base64url');
}
