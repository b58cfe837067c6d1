import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { checkReadiness } from '../../activities/system/checkReadiness.ts';
import { DomainError, notFound } from '../../core/errors.ts';
import type { Handlers } from '../http/call.ts';
import type { Metrics } from '../http/metrics.ts';
import type { ApiParts } from '../http/pipeline.ts';

const require = createRequire(import.meta.url);
const { version } = require('../../package.json') as { version: string };
const swagger = dirname(require.resolve('swagger-ui-dist/package.json'));

/** Files of the reference page, served from here, so that it works without internet access. */
const assets: Record<string, string> = {
  'swagger-ui.css': 'text/css',
  'swagger-ui-bundle.js': 'text/javascript',
  'favicon-32x32.png': 'image/png',
};

const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Workbook Data Service: reference</title>
<link rel="icon" href="/docs/favicon-32x32.png">
<link rel="stylesheet" href="/docs/swagger-ui.css">
<style>body{margin:0} .swagger-ui .topbar{display:none}</style>
</head>
<body><div id="reference"></div>
<script src="/docs/swagger-ui-bundle.js"></script>
<script>SwaggerUIBundle({url:'/openapi.yaml',dom_id:'#reference',deepLinking:true,filter:true,tryItOutEnabled:true,persistAuthorization:true,displayRequestDuration:true,docExpansion:'none',validatorUrl:null})</script>
</body></html>`;

export function makeSystemHandlers(
  { services, contract }: ApiParts,
  metrics: Metrics,
): Handlers<'getHealth' | 'getReadiness' | 'getMetrics' | 'getContract' | 'getReference' | 'getReferenceAsset'> {
  return {
    async getHealth() {
      return { status: 200, body: { status: 'ok', version } };
    },

    async getReadiness() {
      const away = await checkReadiness(services);
      if (away.length > 0)
        throw new DomainError(
          'unavailable',
          `Not ready: ${away.map(({ part }) => part).join(', ')}.`,
          'Wait until every part is up; the log says more.',
          { errors: away.map(({ part }) => ({ pointer: `/checks/${part}`, detail: 'does not answer' })), headers: { 'Retry-After': '2' } },
        );
      return { status: 200, body: { status: 'ready', checks: { database: 'ok', blobs: 'ok', temporal: 'ok', queries: 'ok' } } };
    },

    async getMetrics() {
      return { status: 200, raw: { type: metrics.registry.contentType, data: await metrics.registry.metrics() } };
    },

    async getContract() {
      return { status: 200, raw: { type: 'application/yaml', data: contract.text } };
    },

    async getReference() {
      return { status: 200, raw: { type: 'text/html', data: page } };
    },

    async getReferenceAsset({ params }) {
      const type = assets[params.asset];
      if (!type) throw notFound('part of the reference page');
      return {
        status: 200,
        headers: { 'Cache-Control': 'public, max-age=86400' },
        raw: { type, data: await readFile(join(swagger, params.asset)) },
      };
    },
  };
}
