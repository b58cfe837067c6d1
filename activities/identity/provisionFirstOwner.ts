import { scopes } from '../../core/access/scopes.ts';
import { listOwnedAccounts } from '../../store/pg/accounts.ts';
import { commit } from '../../store/pg/commit.ts';
import { hasUsers } from '../../store/pg/users.ts';
import { hashPassword, makeSecret } from '../../store/secrets.ts';
import { makeId, type Services } from '../../store/services.ts';
import { mintCredential } from './mintCredential.ts';
import { provisionUser } from './provisionUser.ts';

export interface FirstOwner {
  email: string;
  password: string;
  token: string;
}

const email = 'owner@localhost';
const dayMs = 24 * 3_600_000;

/** In an empty database, creates an owner whose password and token are shown once. */
export async function provisionFirstOwner(services: Services): Promise<FirstOwner | null> {
  if (await hasUsers(services.db.orm)) return null;
  const password = makeSecret().slice(0, 20);
  const passwordHash = await hashPassword(password);
  const actor = { name: 'setup', userId: null, credential: 'setup', requestId: makeId('req') };
  return commit(
    services,
    actor,
    async (tx) => {
      const user = await provisionUser(tx, { email, name: 'Owner', passwordHash }, 'first start');
      const [account] = await listOwnedAccounts(tx.orm, user.id);
      if (!account) throw new Error('the first owner has no account');
      const issuer = {
        kind: 'session' as const,
        credentialId: 'setup',
        userId: user.id,
        email,
        userName: user.name,
        accountId: account.id,
        accountName: account.name,
        accountIds: [account.id],
        scopes: [...scopes],
        reach: { kind: 'account' as const },
        rateLimitPerMinute: 600,
        ancestors: [],
        expiresAt: null,
      };
      const minted = await mintCredential(tx, issuer, {
        kind: 'access_token',
        accountId: account.id,
        userId: user.id,
        name: 'first token',
        scopes: [...scopes],
        reach: { kind: 'account' },
        reachWorkspaceId: null,
        rateLimitPerMinute: 600,
        expiresAt: new Date(tx.at.getTime() + 365 * dayMs),
      });
      return { email, password, token: minted.text };
    },
    async (owner) => owner,
  );
}
