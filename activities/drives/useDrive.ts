import type { Principal } from '../../core/access/principal.ts';
import { DomainError, notFound } from '../../core/errors.ts';
import { type Drive, DriveFailure, type DriveProvider, type DriveTokens } from '../../store/drives/drive.ts';
import { inAccount } from '../../store/pg/accountScope.ts';
import { type DriveGrantRecord, findDriveGrant, replaceDriveTokens } from '../../store/pg/driveGrants.ts';
import { deriveKey, seal, unseal } from '../../store/secrets.ts';
import type { Services } from '../../store/services.ts';

type Asker = Pick<Principal, 'userId' | 'accountId'>;
type KeptTokens = Omit<DriveTokens, 'scopes'>;

/** Tokens that end sooner than this are renewed before they are used. */
const spareMs = 60_000;

export function requireDrive({ drives }: Services, provider: DriveProvider): Drive {
  const drive = drives[provider];
  if (drive) return drive;
  throw new DomainError(
    'not-configured',
    `The service is not set up for ${provider}.`,
    'Ask the operator to set its client id and secret.',
  );
}

/** Works on a user's drive with a token that is valid, and once again with a new one if it turns out not to be. */
export async function useDrive<T>(
  services: Services,
  principal: Asker,
  provider: DriveProvider,
  work: (drive: Drive, accessToken: string) => Promise<T>,
): Promise<T> {
  const drive = requireDrive(services, provider);
  try {
    return await withAccess(services, principal, drive, (accessToken) => work(drive, accessToken));
  } catch (error) {
    throw error instanceof DriveFailure ? explainFailure(error, provider) : error;
  }
}

/** Renews the access if it has ended. Null: the user does not let the service read the drive, or does so no longer. */
export async function findAccess(services: Services, principal: Asker, provider: DriveProvider): Promise<DriveGrantRecord | null> {
  try {
    await useDrive(services, principal, provider, async () => {});
  } catch (error) {
    if (error instanceof DomainError && error.code === 'outside-reach') return null;
    throw error;
  }
  return findGrant(services, principal, provider);
}

async function withAccess<T>(services: Services, principal: Asker, drive: Drive, work: (accessToken: string) => Promise<T>): Promise<T> {
  const grant = await findGrant(services, principal, drive.provider);
  if (!grant?.tokens) throw new DriveFailure('consent');
  const kept = openTokens(services, grant.tokens);
  const isStale = kept.expiresAt.getTime() - spareMs < Date.now();
  const { accessToken } = isStale ? await renew(services, drive, grant) : kept;
  try {
    return await work(accessToken);
  } catch (error) {
    if (!(error instanceof DriveFailure) || error.reason !== 'token') throw error;
    if (isStale) throw new DriveFailure('unavailable', null, error);
    return work((await renew(services, drive, grant)).accessToken);
  }
}

/** Others may renew at the same time: then the tokens that they have stored are used. */
async function renew(services: Services, drive: Drive, grant: DriveGrantRecord): Promise<KeptTokens> {
  const replace = (tokens: Buffer | null) => inAccount(grant.accountId, () => replaceDriveTokens(services.db.orm, grant, tokens));
  const kept = openTokens(services, grant.tokens as Buffer);
  const now = await findGrant(services, grant, drive.provider);
  if (now?.tokens && !now.tokens.equals(grant.tokens as Buffer)) return openTokens(services, now.tokens);
  if (kept.refreshToken === null) {
    await replace(null);
    throw new DriveFailure('consent');
  }
  try {
    const fresh = await drive.refresh(kept.refreshToken);
    const tokens = { ...fresh, refreshToken: fresh.refreshToken ?? kept.refreshToken };
    await replace(sealTokens(services, tokens));
    return tokens;
  } catch (error) {
    if (!(error instanceof DriveFailure) || error.reason !== 'consent') throw error;
    if (await replace(null)) throw error;
    const stored = await findGrant(services, grant, drive.provider);
    if (!stored?.tokens) throw error;
    return openTokens(services, stored.tokens);
  }
}

function findGrant({ db }: Services, { userId, accountId }: Asker, provider: DriveProvider): Promise<DriveGrantRecord | null> {
  return inAccount(accountId, () => findDriveGrant(db.orm, { userId, accountId, provider }));
}

const tokenKey = ({ config }: Services) => deriveKey(config.secret, 'drive tokens');

export function sealTokens(services: Services, { accessToken, refreshToken, expiresAt }: KeptTokens): Buffer {
  return seal(tokenKey(services), Buffer.from(JSON.stringify({ accessToken, refreshToken, expiresAt: expiresAt.getTime() })));
}

function openTokens(services: Services, sealed: Buffer): KeptTokens {
  const tokens = JSON.parse(unseal(tokenKey(services), sealed).toString('utf8')) as KeptTokens & { expiresAt: number };
  return { ...tokens, expiresAt: new Date(tokens.expiresAt) };
}

/** A refusal in the words of this service. */
export function explainFailure(failure: DriveFailure, provider: DriveProvider): DomainError {
  const extras = { cause: failure };
  switch (failure.reason) {
    case 'consent':
    case 'token':
      return new DomainError(
        'outside-reach',
        `The service may not read the drive of this user at ${provider}.`,
        `Open the page that GET /api/v1/me/authorize/${provider} names, and allow it there.`,
        extras,
      );
    case 'forbidden':
    case 'not-found':
      return notFound('file on the drive', 'Look for its id in GET /api/v1/cloud-files/{provider}.');
    case 'too-large':
      return new DomainError(
        'too-large',
        'The drive does not hand out a file of this size.',
        'Split the file, or download and upload it.',
        extras,
      );
    case 'throttled':
    case 'unavailable': {
      const isBusy = failure.reason === 'throttled';
      const detail = isBusy ? 'The drive takes no more requests just now.' : 'The drive cannot be reached just now.';
      const headers = { 'Retry-After': String(failure.retryAfterS ?? (isBusy ? 30 : 5)) };
      return new DomainError('unavailable', detail, 'Try again later, with the same Idempotency-Key.', { ...extras, headers });
    }
  }
}
