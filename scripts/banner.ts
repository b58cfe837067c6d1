import type { FirstLogin } from './prepare.ts';

/** What people see when everything is up. */
export interface Addresses {
  apiUrl: string;
  /** Of the API processes behind a balancer, which is then at `apiUrl`. */
  behindUrls: string[];
  /** Of the storage; null: a folder. */
  s3Url: string | null;
  temporalUiUrl: string | null;
  temporalAddress: string;
  dataDir: string;
}

export function describeRunning({ apiUrl, behindUrls, s3Url, temporalUiUrl, temporalAddress, dataDir }: Addresses): string[] {
  return [
    '',
    'The service is running.',
    '',
    `  API             ${apiUrl}`,
    ...behindUrls.map((url, i) => `  API ${i + 1}           ${url}, behind it`),
    `  Reference       ${apiUrl}/docs`,
    `  Temporal        ${temporalUiUrl ?? temporalAddress}`,
    ...(s3Url ? [`  S3 storage      ${s3Url}`] : []),
    `  Data            ${dataDir}`,
    '',
  ];
}

export function describeFirstLogin(apiUrl: string, login: FirstLogin): string[] {
  return [
    `This is the first start, so an owner was made. The token is shown only now; ${login.tokenPath} keeps it:`,
    '',
    `  Token           ${login.token}`,
    `  E-mail          ${login.email}`,
    `  Password        ${login.password}`,
    '',
    'A first command to try:',
    '',
    `  curl -H "Authorization: Bearer ${login.token}" ${apiUrl}/api/v1/me`,
    '',
  ];
}
