import { createHmac, timingSafeEqual } from 'node:crypto';
import { DomainError } from '../../core/errors.ts';
import { deriveKey } from '../../store/secrets.ts';
import type { Services } from '../../store/services.ts';

function sign(services: Services, uploadId: string, expires: number): string {
  return createHmac('sha256', deriveKey(services.config.secret, 'upload slots')).update(`${uploadId}\n${expires}`).digest('base64url');
}

const seconds = (at: Date) => Math.floor(at.getTime() / 1000);

/** Anybody who has this URL may send the bytes. */
export function slotAddress(services: Services, upload: { id: string; expiresAt: Date }): string {
  const expires = seconds(upload.expiresAt);
  return `${services.config.publicUrl}/api/v1/uploads/${upload.id}?expires=${expires}&sig=${sign(services, upload.id, expires)}`;
}

export function badSignature(): DomainError {
  return new DomainError('bad-signature', 'The signature does not belong to this address.', 'Use `upload_url` exactly as it was given.');
}

/** The signature is the only authentication, and covers all that must not be altered. */
export function checkSignature(services: Services, uploadId: string, expires: number, given: string): void {
  const [right, claimed] = [Buffer.from(sign(services, uploadId, expires)), Buffer.from(given)];
  if (claimed.length !== right.length || !timingSafeEqual(claimed, right)) throw badSignature();
  if (expires * 1000 < Date.now())
    throw new DomainError('expired', 'The upload slot has expired.', 'Open another one with POST …/uploads.');
}
