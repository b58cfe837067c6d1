import type { components } from '../../schema/contract.ts';
import type { TestApi } from './api.ts';
import type { DriveAccount } from './driveAccounts.ts';
import { google, microsoft, openProviderPage } from './driveServers.ts';

type Provider = components['schemas']['DriveProvider'];
export type DriveAuthorization = components['schemas']['DriveAuthorization'];

export async function readAuthorization(api: Pick<TestApi, 'fetch'>, token: string, provider: Provider): Promise<DriveAuthorization> {
  const answer = await api.fetch(`/api/v1/me/authorize/${provider}`, { token });
  if (answer.status !== 200) throw new Error(`${answer.status}: ${await answer.text()}`);
  return (await answer.json()) as DriveAuthorization;
}

/** The path of the callback with which the user, signed in at the provider, comes back. */
export async function beginConnection(
  api: Pick<TestApi, 'fetch'>,
  token: string,
  provider: Provider,
  account: DriveAccount,
): Promise<string> {
  (provider === 'google_drive' ? google : microsoft).signedIn = account;
  const { authorize_url: url } = await readAuthorization(api, token, provider);
  return openProviderPage(url ?? '');
}

/** Lets the service read the drive. */
export async function connectDrive(api: Pick<TestApi, 'fetch'>, token: string, provider: Provider, account: DriveAccount): Promise<void> {
  const callback = await beginConnection(api, token, provider, account);
  const page = await api.fetch(callback);
  if (page.status !== 200) throw new Error(`the callback was answered ${page.status}: ${await page.text()}`);
}
