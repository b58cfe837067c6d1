/** What people see when everything is up. */
export interface Addresses {
  apiUrl: string;
  temporalUiUrl: string | null;
  temporalAddress: string;
  dataDir: string;
}

/** Shown once, since only a hash of it is kept. */
export interface FirstLogin {
  firstToken: string | null;
  firstEmail: string | null;
  firstPassword: string | null;
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

export function describeFirstLogin(apiUrl: string, login: FirstLogin | null): string[] {
  if (!login?.firstToken) return [];
  return [
    'This is the first start, so an owner was made. The token is shown only now:',
    '',
    `  Token           ${login.firstToken}`,
    ...(login.firstEmail ? [`  E-mail          ${login.firstEmail}`] : []),
    ...(login.firstPassword ? [`  Password        ${login.firstPassword}`] : []),
    '',
    'A first command to try:',
    '',
    `  curl -H "Authorization: Bearer ${login.firstToken}" ${apiUrl}/api/v1/me`,
    '',
  ];
}
