import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes, scrypt, timingSafeEqual } from 'node:crypto';

/** One key per purpose, derived from the installation's master secret. */
export function deriveKey(secret: string, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, 'workbook-data-service', purpose, 32));
}

/** The two pads of HMAC-SHA256, so that PostgreSQL's plain sha256 can compute it without holding the key. */
export interface HmacPads {
  inner: Buffer;
  outer: Buffer;
}

export function hmacPads(key: Buffer): HmacPads {
  const block = Buffer.alloc(64);
  key.copy(block);
  return { inner: Buffer.from(block.map((byte) => byte ^ 0x36)), outer: Buffer.from(block.map((byte) => byte ^ 0x5c)) };
}

export function sha256(...parts: (string | Uint8Array)[]): Buffer {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest();
}

export function equalInConstantTime(a: string, b: string): boolean {
  return timingSafeEqual(sha256(a), sha256(b));
}

/** AES-256-GCM: nonce, tag, ciphertext. */
export function seal(key: Buffer, plain: Buffer): Buffer {
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', key, nonce);
  const body = Buffer.concat([cipher.update(plain), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), body]);
}

export function unseal(key: Buffer, sealed: Buffer): Buffer {
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, 12));
  decipher.setAuthTag(sealed.subarray(12, 28));
  return Buffer.concat([decipher.update(sealed.subarray(28)), decipher.final()]);
}

// 32 MiB and about 60 ms: the OWASP minimum for scrypt with p = 2 is in this range.
const cost = { N: 2 ** 15, r: 8, p: 2, maxmem: 64 * 1024 * 1024 };

function stretch(password: string, salt: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    scrypt(password.normalize('NFKC'), salt, 32, cost, (error, key) => (error ? reject(error) : resolve(key)));
  });
}

export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16);
  return `scrypt$${salt.toString('base64url')}$${(await stretch(password, salt)).toString('base64url')}`;
}

// Checking takes as long without a stored password as with one, so that timing does not reveal whether an account exists.
const nobody = `scrypt$${Buffer.alloc(16).toString('base64url')}$${Buffer.alloc(32).toString('base64url')}`;

export async function checkPassword(password: string, stored: string | null): Promise<boolean> {
  const [, salt, key] = (stored ?? nobody).split('$') as [string, string, string];
  const given = await stretch(password, Buffer.from(salt, 'base64url'));
  return timingSafeEqual(given, Buffer.from(key, 'base64url')) && stored !== null;
}

/** The secret part of a token or key: 256 random bits. */
export function makeSecret(): string {
  return randomBytes(32).toString('base64url');
}
