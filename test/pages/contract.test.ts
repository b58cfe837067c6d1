import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { projectDir } from '../../store/config.ts';
import { startTestApi, type TestApi } from '../setup/api.ts';

/** The contract as it is served, to programs and to the reference page. */

interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  example?: unknown;
  examples?: unknown;
  schema?: { example?: unknown; examples?: unknown };
}

interface Operation {
  operationId: string;
  summary: string;
  description: string;
  security: Record<string, unknown>[];
  parameters?: (Parameter | { $ref: string })[];
}

interface Document {
  openapi: string;
  info: { version: string };
  paths: Record<string, Record<string, Operation>>;
  components: { parameters: Record<string, Parameter>; securitySchemes: Record<string, unknown> };
}

let api: TestApi;
let yaml: string;
let json: Document;
let shown: Document;
beforeAll(async () => {
  api = await startTestApi({ SVC_RATE_LIMITS: 'off' });
  yaml = await (await api.fetch('/openapi.yaml')).text();
  json = (await (await api.fetch('/openapi.json')).json()) as Document;
  shown = (await (await api.fetch('/docs/contract.json')).json()) as Document;
});
afterAll(() => api.stop());

const listOperations = ({ paths }: Document) => Object.values(paths).flatMap((item) => Object.values(item));
const findOperation = (document: Document, id: string) => listOperations(document).find(({ operationId }) => operationId === id);

describe('the contract that is served', () => {
  it('is the same in YAML and in JSON', () => {
    expect(parse(yaml)).toEqual(json);
  });

  it('is the file', async () => {
    expect((await readFile(join(projectDir, 'openapi.yaml'), 'utf8')) === yaml).toBe(true);
  });

  it('has the version of the service', async () => {
    const { version } = JSON.parse(await readFile(join(projectDir, 'package.json'), 'utf8')) as { version: string };
    const health = (await (await api.fetch('/healthz')).json()) as { version: string };
    expect([json.info.version, health.version]).toEqual([version, version]);
  });

  it.each(['/openapi.yaml', '/openapi.json', '/docs/contract.json', '/docs/start.js', '/docs/swagger-ui-bundle.js'])(
    'is not sent again to who has it: %s',
    async (path) => {
      const first = await api.fetch(path);
      const again = await fetch(`${api.url}${path}`, { headers: { 'If-None-Match': first.headers.get('etag') ?? '' } });
      expect([again.status, await again.text()]).toEqual([304, '']);
    },
  );
});

describe('what the reference page sends', () => {
  it('has no examples of optional parameters in it, since the page would send them', () => {
    const isExample = ({ required, example, examples, schema }: Parameter) =>
      !required && [example, examples, schema?.example, schema?.examples].some((each) => each !== undefined);
    const inline = listOperations(json).flatMap(({ parameters = [] }) => parameters.filter((each) => !('$ref' in each)) as Parameter[]);
    const all = [...Object.values(json.components.parameters), ...inline];
    expect(all.filter(isExample).map(({ name }) => name)).toEqual([]);
  });

  it('has the path parameters in each operation', () => {
    expect(Object.entries(json.paths).flatMap(([path, item]) => ('parameters' in item ? [path] : []))).toEqual([]);
  });

  it('is authorised in one box for the bearer token, and it comes first', () => {
    expect(Object.keys(shown.components.securitySchemes)).toEqual(['bearer', 'uploadSignature']);
    const schemes = new Set(listOperations(shown).flatMap(({ security }) => security.flatMap((each) => Object.keys(each))));
    expect([...schemes].sort()).toEqual(['bearer', 'uploadSignature']);
    expect(findOperation(shown, 'listKeys')?.description).toMatch(/Takes a session or an account key with `keys:read`\.$/);
  });
});

describe('the contract in the words of OpenAPI 3.0', () => {
  it('says all that the contract says', () => {
    const ids = (document: Document) => listOperations(document).map(({ operationId }) => operationId);
    expect([shown.openapi, ids(shown)]).toEqual(['3.0.3', ids(json)]);
  });

  it('has nothing in it that 3.0 does not know', () => {
    const found: string[] = [];
    const look = (node: unknown, path: string): void => {
      if (node === null || typeof node !== 'object') return;
      const { type, $ref } = node as { type?: unknown; $ref?: unknown };
      const isNames = path.endsWith('/properties');
      if (!isNames && (Array.isArray(type) || type === 'null')) found.push(`${path}: type ${type}`);
      if (!isNames && typeof $ref === 'string' && Object.keys(node).length > 1) found.push(`${path}: beside a reference`);
      for (const [key, value] of Object.entries(node)) {
        if (isNames || !(['example', 'examples', 'default', 'enum'].includes(key) || key.startsWith('x-'))) look(value, `${path}/${key}`);
      }
    };
    look(shown, '');
    expect(found).toEqual([]);
  });
});

describe('parts of the reference page', () => {
  it.each(['constructor', '__proto__', 'toString', 'hasOwnProperty', 'package.json', '..%2Fpackage.json', 'swagger-ui.js', 'index.html'])(
    '%s is none',
    async (name) => {
      expect((await api.fetch(`/docs/${name}`)).status).toBe(404);
    },
  );
});
