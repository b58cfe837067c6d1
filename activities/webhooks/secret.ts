import { randomBytes } from 'node:crypto';
import { deriveKey, seal, unseal } from '../../store/secrets.ts';
import type { Services } from '../../store/services.ts';

const keyOf = ({ config }: Pick<Services, 'config'>) => deriveKey(config.secret, 'webhook secrets');

/** A signing secret: its text, which is shown once, and what is stored of it. */
export function makeSigningSecret(services: Services): { text: string; sealed: Buffer } {
  const text = `whsec_${randomBytes(32).toString('base64')}`;
  return { text, sealed: seal(keyOf(services), Buffer.from(text)) };
}

export function readSigningSecret(services: Services, sealed: Buffer): string {
  return unseal(keyOf(services), sealed).toString();
}
