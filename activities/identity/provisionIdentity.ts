import { commit } from '../../store/pg/commit.ts';
import { brokenConstraint } from '../../store/pg/database.ts';
import { findUserByEmail, findUserByIdentity, insertIdentity } from '../../store/pg/users.ts';
import { makeId, type Services } from '../../store/services.ts';
import type { IssuedClaims } from './oidc.ts';
import { provisionUser } from './provisionUser.ts';
import { unauthenticated } from './refusals.ts';

/** The user of an issuer's token, created at the first request. */
export async function provisionIdentity(services: Services, claims: IssuedClaims): Promise<string> {
  const known = await findUserByIdentity(services.db.orm, claims.issuer, claims.subject);
  if (known) return known.id;
  const actor = { name: claims.email ?? claims.subject, userId: null, credential: claims.jti, requestId: makeId('req') };
  try {
    return await commit(
      services,
      actor,
      async (tx) => {
        const holder = claims.email === null ? null : await findUserByEmail(tx.orm, claims.email);
        if (holder?.emailVerified && !claims.emailVerified)
          throw unauthenticated('A user with this e-mail exists, and the identity provider has not verified the e-mail.');
        // An e-mail joins an existing user only if both have verified it. Otherwise a stranger could sign up with somebody's
        // address, and would then share the account when its owner arrives.
        const user = holder?.emailVerified ? holder : await provisionUser(tx, describePerson(claims), 'oidc');
        await insertIdentity(tx, { issuer: claims.issuer, subject: claims.subject, userId: user.id });
        return user.id;
      },
      async (userId) => userId,
    );
  } catch (error) {
    // Two first requests at once: the other one created the user.
    const made = brokenConstraint(error) !== null && (await findUserByIdentity(services.db.orm, claims.issuer, claims.subject));
    if (made) return made.id;
    throw error;
  }
}

function describePerson({ email, emailVerified, subject, issuer, name }: IssuedClaims) {
  const address =
    email !== null && emailVerified
      ? { email, emailVerified: true }
      : { email: `${subject}@${new URL(issuer).host}`, emailVerified: false };
  return { ...address, name, passwordHash: null };
}
