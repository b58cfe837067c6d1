import { DomainError } from '../../core/errors.ts';
import type { DriveProvider } from '../../store/drives/drive.ts';
import { deriveKey, seal, unseal } from '../../store/secrets.ts';
import type { Services } from '../../store/services.ts';

/** What an authorization that is under way must remember; the user's browser carries it, encrypted. */
export interface DriveState {
  userId: string;
  accountId: string;
  credentialId: string;
  provider: DriveProvider;
  /** The secret half of PKCE. */
  verifier: string;
  workbookId: string | null;
  begunAt: number;
}

const longestMs = 60 * 60 * 1000;
const keyOf = ({ config }: Services) => deriveKey(config.secret, 'drive authorization');

export function writeState(services: Services, state: DriveState): string {
  return seal(keyOf(services), Buffer.from(JSON.stringify(state))).toString('base64url');
}

export function readState(services: Services, provider: DriveProvider, text: string): DriveState {
  const state = openState(services, text);
  if (state?.provider !== provider) throw new DomainError('bad-signature', 'This authorization was not begun here.', adviseAgain(provider));
  if (state.begunAt + longestMs < Date.now()) throw stateExpired(provider, 'The authorization was begun more than an hour ago.');
  return state;
}

export function stateExpired(provider: DriveProvider, why: string): DomainError {
  return new DomainError('expired', why, adviseAgain(provider));
}

function openState(services: Services, text: string): DriveState | null {
  try {
    return JSON.parse(unseal(keyOf(services), Buffer.from(text, 'base64url')).toString('utf8')) as DriveState;
  } catch {
    return null;
  }
}

function adviseAgain(provider: DriveProvider): string {
  return `Begin again with GET /api/v1/me/authorize/${provider}.`;
}
