import type { Document } from 'openapi-backend';
import { readPackageFile } from '../../store/projectFiles.ts';
import type { RawContent } from '../http/call.ts';
import { html } from './html.ts';
import { describeForReader } from './referenceContract.ts';

/** The page of Swagger UI. All of it is served from here, so that it works without internet access. */

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
];

export const referencePage = {
  headers: { 'Content-Security-Policy': policy.join('; ') },
  raw: {
    type: 'text/html',
    data: html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Workbook Data Service: reference</title>
<link rel="icon" href="/docs/favicon-32x32.png">
<link rel="stylesheet" href="/docs/swagger-ui.css">
<link rel="preload" href="/docs/contract.json" as="fetch" crossorigin>
</head>
<body>
<div id="reference"></div>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
`.text,
  },
};

/** A file of its own, since the policy allows no script inside the page. */
const startScript = `SwaggerUIBundle({
  url: '/docs/contract.json',
  dom_id: '#reference',
  deepLinking: true,
  docExpansion: 'none',
  defaultModelsExpandDepth: 0,
  filter: true,
  tryItOutEnabled: true,
  persistAuthorization: true,
  displayRequestDuration: true,
  validatorUrl: null,
});
`;

/** Files of Swagger UI that the page needs. They change only with their version. */
const swaggerFiles = new Map([
  ['swagger-ui.css', 'text/css'],
  ['swagger-ui-bundle.js', 'text/javascript'],
  ['favicon-32x32.png', 'image/png'],
]);

interface ReferenceFile {
  headers: Record<string, string>;
  raw: RawContent;
}

/** Finds the files of the page by name. The contract for it is made at the first call. */
export function openReference(contract: Document): (name: string) => Promise<ReferenceFile | null> {
  let shown: string | null = null;
  return async (name) => {
    if (name === 'start.js') return keepChecked({ type: 'text/javascript', data: startScript });
    if (name === 'contract.json') {
      shown ??= JSON.stringify(describeForReader(contract));
      return keepChecked({ type: 'application/json', data: shown });
    }
    const type = swaggerFiles.get(name);
    if (type === undefined) return null;
    const data = await readPackageFile('swagger-ui-dist', name);
    return { headers: { 'Cache-Control': 'public, max-age=86400' }, raw: { type, data } };
  };
}

/** These change with the service, so browsers ask each time whether they have the current one. */
const keepChecked = (raw: RawContent): ReferenceFile => ({ headers: { 'Cache-Control': 'no-cache' }, raw });
