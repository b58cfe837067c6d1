import type { FirstLogin } from './prepare.ts';

/** What people see when everything is up. */
export interface Addresses {
  apiUrl: string;
  temporalUiUrl: string | null;
  temporalAddress: string;
  dataDir: string;
}

export function describeRunning({ apiUrl, temporalUiUrl, temporalAddress, dataDir }: Addresses): string[] {
  return [
    '',
    'The service is running.',
    '',
    `  API             ${apiUrl}`,
    `  Reference       ${apiUrl}/docs`,
    `  Temporal        ${temporalUiUrl ?? temporalAddress}`,
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
