import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import ts from 'typescript';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inheritEnv } from '../store/childEnv.ts';
import { projectDir } from '../store/config.ts';
import { startTestApi, type TestApi } from './setup/api.ts';
import { findSql, readSources } from './setup/sources.ts';

/** The rules of the house, as tests: a broken one fails the run as any other fault does. */

interface Outcome {
  code: number;
  text: string;
}

/** Runs one of the programs that the project brings along. */
function run(program: string, args: string[], cwd = projectDir): Promise<Outcome> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [join(projectDir, 'node_modules/.bin', program), ...args],
      {
        cwd,
        maxBuffer: 64 * 1024 * 1024,
        env: inheritEnv({ NO_COLOR: '1', CI: '1', REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }),
      },
      (error, stdout, stderr) =>
        resolve({ code: typeof error?.code === 'number' ? error.code : error ? 1 : 0, text: `${stdout}${stderr}` }),
    );
  });
}

const expectClean = async (program: string, args: string[]) => {
  const { code, text } = await run(program, args);
  expect(code === 0 ? '' : text).toBe('');
};

const folders: string[] = [];
async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-test-house-'));
  folders.push(folder);
  return folder;
}
afterAll(async () => {
  for (const folder of folders) await rm(folder, { recursive: true, force: true });
});

const parts = ['api', 'activities', 'core', 'store', 'schema', 'workflows', 'scripts'];

describe('the checks', () => {
  it('format and lint', () => expectClean('biome', ['ci', '.', '--diagnostic-level=error']), 120_000);
  // The compiler in Go takes a third of the time; what generates the contract's types needs the older one beside it.
  it('types', () => expectClean('../typescript-native/bin/tsc', ['--noEmit']), 180_000);
  it('types of the console', () => expectClean('../typescript-native/bin/tsc', ['--noEmit', '-p', 'console']), 180_000);
  it('the contract', () => expectClean('redocly', ['lint', 'openapi.yaml']), 120_000);
});

describe('what is generated is fresh', () => {
  it('the types of the contract', async () => {
    const target = join(await makeFolder(), 'contract.ts');
    const { code, text } = await run('tsx', ['scripts/contract/generateTypes.ts', target]);
    expect([code, code === 0 ? '' : text]).toEqual([0, '']);
    const fresh = await readFile(target, 'utf8');
    const kept = await readFile(join(projectDir, 'schema/contract.ts'), 'utf8');
    // Not toEqual: a difference in a megabyte of text would be printed in full.
    expect(fresh === kept ? 'fresh' : 'run npm run generate').toBe('fresh');
  });

  it('the migrations: they make exactly the tables that the code knows', async () => {
    await expectClean('drizzle-kit', ['check']);
    const copy = join(await makeFolder(), 'migrations');
    await cp(join(projectDir, 'schema/migrations'), copy, { recursive: true });
    const before = (await readdir(copy)).sort();
    const out = relative(projectDir, copy);
    const { code, text } = await run('drizzle-kit', [
      'generate',
      '--dialect=postgresql',
      '--schema=./schema/index.ts',
      `--out=${out}`,
      '--prefix=index',
    ]);
    expect([code, code === 0 ? '' : text]).toEqual([0, '']);
    expect((await readdir(copy)).sort()).toEqual(before);
    expect(text).toContain('No schema changes');
  });
});

describe('imports go one way', () => {
  const forbidden = [
    ['core/probe.ts', '../store/log.ts'],
    ['core/probe.ts', '../schema/index.ts'],
    ['core/probe.ts', '../activities/index.ts'],
    ['core/probe.ts', '../api/server.ts'],
    ['core/access/probe.ts', '../../store/pg/database.ts'],
    ['core/probe.ts', 'node:fs'],
    ['core/probe.ts', 'node:fs/promises'],
    ['core/probe.ts', 'node:child_process'],
    ['schema/probe.ts', '../store/log.ts'],
    ['schema/probe.ts', '../activities/index.ts'],
    ['store/probe.ts', '../activities/index.ts'],
    ['store/pg/probe.ts', '../../api/http/app.ts'],
    ['store/probe.ts', '../workflows/index.ts'],
    ['activities/probe.ts', '../api/http/app.ts'],
    ['activities/jobs/probe.ts', '../../workflows/index.ts'],
    ['activities/probe.ts', 'koa'],
    ['activities/ingest/probe.ts', '../sources/registerSource.ts'],
    ['activities/ingest/probe.ts', '../../api/http/app.ts'],
    ['workflows/probe.ts', '../store/log.ts'],
    ['workflows/probe.ts', '../schema/index.ts'],
    ['workflows/probe.ts', '../api/server.ts'],
    ['workflows/probe.ts', 'node:crypto'],
    ['api/handlers/probe.ts', '../../workflows/index.ts'],
    ['api/handlers/probe.ts', 'drizzle-orm'],
    ['api/handlers/probe.ts', 'drizzle-orm/pg-core'],
    ['api/handlers/probe.ts', 'pg'],
    ['api/probe.ts', '../scripts/run.ts'],
    ['console/pages/probe.ts', '../../core/errors.ts'],
    ['console/api/probe.ts', '../../store/log.ts'],
    ['console/api/probe.ts', 'node:fs'],
  ] as const;
  const allowed = [
    ['core/probe.ts', './errors.ts'],
    ['store/probe.ts', '../core/errors.ts'],
    ['store/probe.ts', '../schema/index.ts'],
    ['activities/probe.ts', '../store/log.ts'],
    ['activities/ingest/probe.ts', '../../store/pg/sources.ts'],
    ['activities/sources/probe.ts', '../ingest/readSourceFile.ts'],
    ['api/probe.ts', '../activities/access.ts'],
    ['workflows/probe.ts', '../core/errors.ts'],
    ['console/api/probe.ts', '../../schema/contract.ts'],
    ['console/pages/probe.ts', '../api/client.ts'],
  ] as const;
  const refused = new Set<string>();

  /** Throwaway files beside a copy of the rules, all in one run. */
  beforeAll(async () => {
    const folder = await makeFolder();
    await cp(join(projectDir, 'biome.json'), join(folder, 'biome.json'));
    for (const [i, [path, what]] of [...forbidden, ...allowed].entries()) {
      const probe = join(folder, probePath(path, i));
      await mkdir(dirname(probe), { recursive: true });
      await writeFile(probe, `import { thing } from '${what}';\n\nconsole.log(thing);\n`);
    }
    const { text } = await run(
      'biome',
      ['lint', '.', '--only=noRestrictedImports', '--reporter=json', '--max-diagnostics=none', '--diagnostic-level=error'],
      folder,
    );
    const report = JSON.parse(text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1)) as {
      diagnostics: { category: string; location: { path: unknown } }[];
    };
    for (const { category, location } of report.diagnostics) {
      if (category === 'lint/style/noRestrictedImports') refused.add(JSON.stringify(location.path));
    }
  });
  const probePath = (path: string, i: number) => path.replace('probe', `probe${i}`);
  const isRefused = (path: string, i: number) => [...refused].some((each) => each.includes(`${probePath(path, i)}"`));

  it.each(forbidden.map(([path, what], i) => [path, what, i] as const))('%s may not import %s', (path, _, i) => {
    expect(isRefused(path, i)).toBe(true);
  });

  it.each(allowed.map(([path, what], i) => [path, what, i + forbidden.length] as const))('%s may import %s', (path, _, i) => {
    expect(isRefused(path, i)).toBe(false);
  });
});

/** Modules that are imported for more than their types. */
function listValueImports(text: string): string[] {
  return ts
    .createSourceFile('probe.ts', text, ts.ScriptTarget.Latest)
    .statements.filter((statement) => ts.isImportDeclaration(statement) || ts.isExportDeclaration(statement))
    .filter((statement) => !isTypeOnly(statement))
    .flatMap(({ moduleSpecifier }) => (moduleSpecifier && ts.isStringLiteral(moduleSpecifier) ? [moduleSpecifier.text] : []));
}

function isTypeOnly(statement: ts.ImportDeclaration | ts.ExportDeclaration): boolean {
  if (ts.isExportDeclaration(statement)) return statement.isTypeOnly;
  const clause = statement.importClause;
  if (!clause || clause.isTypeOnly) return clause !== undefined;
  const named = clause.namedBindings;
  return !clause.name && named !== undefined && ts.isNamedImports(named) && named.elements.every((element) => element.isTypeOnly);
}

describe('handlers hold no rule and presenters are pure', () => {
  const list = async (dir: string, forbidden: RegExp) =>
    (await readSources([dir])).flatMap(({ path, text }) =>
      listValueImports(text)
        .filter((module) => forbidden.test(module))
        .map((module) => `${path} imports ${module}`),
    );

  it('handlers import the store as types only', async () => {
    expect(await list('api/handlers', /\/(?:store|schema)\//)).toEqual([]);
  });

  it('presenters import the store, the activities and handlers as types only', async () => {
    expect(await list('api/presenters', /\/(?:store|schema|activities|handlers|http)\//)).toEqual([]);
  });

  it.each([
    ["import { listTables } from '../../store/pg/tables.ts';", 1],
    ["import { listTables, type TableFilter } from '../../store/pg/tables.ts';", 1],
    ["import * as tables from '../../store/pg/tables.ts';", 1],
    ["import '../../store/pg/tables.ts';", 1],
    ["export { listTables } from '../../store/pg/tables.ts';", 1],
    ["import type { TableFilter } from '../../store/pg/tables.ts';", 0],
    ["import { type TableFilter } from '../../store/pg/tables.ts';", 0],
  ])('%s brings in %i modules', (text, count) => {
    expect(listValueImports(text)).toHaveLength(count);
  });
});

describe('structuring goes from stage to stage', () => {
  /** In the order of the work; each stage knows those before it, and the files beside the folders know all of them. */
  const stages = ['names', 'spec', 'sheet', 'headers', 'regions', 'reports', 'periods', 'building', 'findings', 'describing', 'learning'];
  const stageOf = (path: string) => stages.indexOf(/^core\/structuring\/(\w+)\//.exec(path)?.[1] ?? '');
  const findBackward = ({ path, text }: { path: string; text: string }) =>
    [...text.matchAll(/from '(\.[^']+)'/g)]
      .map(([, target = '']) => join(dirname(path), target))
      .filter((target) => target.startsWith('core/structuring/') && target !== 'core/structuring/thresholds.ts')
      .filter((target) => stageOf(target) < 0 || stageOf(target) > stageOf(path));

  it('and never back', async () => {
    const own = (await readSources(['core/structuring'])).filter(({ path }) => /^core\/structuring\/\w+\//.test(path));
    expect([...new Set(own.map(({ path }) => path.split('/')[2]))].sort()).toEqual([...stages].sort());
    expect(own.flatMap((source) => findBackward(source).map((target) => `${source.path} imports ${target}`))).toEqual([]);
  });

  it.each([
    ['core/structuring/headers/probe.ts', '../regions/split.ts', 1],
    ['core/structuring/findings/probe.ts', '../build.ts', 1],
    ['core/structuring/regions/probe.ts', '../headers/header.ts', 0],
    ['core/structuring/regions/probe.ts', './split.ts', 0],
    ['core/structuring/sheet/probe.ts', '../thresholds.ts', 0],
    ['core/structuring/sheet/probe.ts', '../../grid/grid.ts', 0],
  ])('%s importing %s: %i against it', (path, target, count) => {
    expect(findBackward({ path, text: `import { thing } from '${target}';` })).toHaveLength(count);
  });
});

describe('no module imports itself by way of others', () => {
  it.each(['import type', 'import'])('%s', async (word) => {
    const folder = await makeFolder();
    await cp(join(projectDir, 'biome.json'), join(folder, 'biome.json'));
    await mkdir(join(folder, 'core'));
    await writeFile(join(folder, 'core/one.ts'), `${word} { Two } from './two.ts';\n\nexport type One = Two;\n`);
    await writeFile(join(folder, 'core/two.ts'), `${word} { One } from './one.ts';\n\nexport type Two = One;\n`);
    const { code, text } = await run('biome', ['lint', '.', '--only=noImportCycles', '--diagnostic-level=error'], folder);
    expect([code === 0, text.includes('noImportCycles')]).toEqual([false, true]);
  });
});

describe('the sources', () => {
  it('read environment variables where the configuration is made', async () => {
    const readers = (await readSources(parts))
      .filter(({ text }) => /process\.env\b|import\.meta\.env\b/.test(text))
      .map(({ path }) => path);
    // What runs before anything is installed cannot import it.
    expect(readers.filter((path) => !/^scripts\/[^/]+\.mjs$/.test(path))).toEqual(['store/childEnv.ts', 'store/config.ts']);
  });

  it('find files by the project dir, because they run from bundles', async () => {
    const finders = (await readSources(parts)).filter(({ text }) =>
      /new URL\([^)]*import\.meta\.url|import\.meta\.(dirname|filename)/.test(text),
    );
    expect(finders.map(({ path }) => path).filter((path) => !/^scripts\/[^/]+\.mjs$/.test(path))).toEqual([]);
  });

  it('export only functions, constants and classes that another file imports', async () => {
    const imported = new Set<string>();
    const all = (await readSources([...parts, 'test', 'bench', 'demo'])).filter(({ path }) => /\.m?[jt]s$/.test(path));
    for (const { path, text } of all) {
      const resolve = (target: string) => join(dirname(path), target);
      for (const [, names = '', target = ''] of text.matchAll(/\b(?:import|export)\s+(?:type\s+)?\{([^}]*)\}\s+from\s+'(\.[^']+)'/g))
        for (const name of names.split(',')) imported.add(`${resolve(target)} ${name.trim().replace(/^type\s+|\s+as\s.*$/g, '')}`);
      // Whoever takes a whole file may use all of it.
      for (const [, target = ''] of text.matchAll(/(?:\*(?:\s+as\s+\w+)?\s+from\s+|import\()'(\.[^']+)'/g)) imported.add(resolve(target));
    }
    const unused = all
      // Tables are taken as a whole by drizzle, workflows by name from their bundle; what tests export is their own affair.
      .filter(({ path }) => !imported.has(path) && /^(api|activities|core|store|scripts)\//.test(path))
      .flatMap(({ path, text }) =>
        [...text.matchAll(/^export (?:async )?(?:function\*?|const|abstract class|class) (\w+)/gm)].map(([, name]) => `${path} ${name}`),
      )
      .filter((each) => !imported.has(each));
    expect(unused).toEqual([]);
  });

  it('write SQL in store alone', async () => {
    const writers = (await readSources(['activities', 'api', 'workflows'])).filter(({ path }) => path.endsWith('.ts'));
    expect(writers.flatMap((source) => findSql(source).map((line) => `${source.path}: ${line.trim()}`))).toEqual([]);
  });

  it.each([
    'const rows = await pool.query(`SELECT id FROM things`);',
    'const page = `x ORDER BY name`;',
    "await connection.run('DELETE FROM row_log');",
    "import { quoteName } from '../../store/duckdb/relation.ts';",
    "import { DuckDBConnection } from '@duckdb/node-api';",
  ])('and what does not is found: %s', (line) => {
    expect(findSql({ text: `// SELECT in a comment\n${line}\n` })).toEqual([line]);
  });

  it('name no folder of the machine they were written on', async () => {
    const all = await readSources([...parts, 'test', 'bench', 'demo']);
    expect(all.length).toBeGreaterThan(100);
    const known = [`${projectDir}/`, `${dirname(projectDir)}/shared`];
    expect(all.filter(({ text }) => known.some((folder) => text.includes(folder))).map(({ path }) => path)).toEqual([]);
  });

  it('of test helpers register hooks only when they are called: a helper is loaded once for several files', async () => {
    const helpers = (await readSources(['test'])).filter(({ path }) => !path.endsWith('.test.ts'));
    expect(helpers.length).toBeGreaterThan(20);
    expect(helpers.filter(({ text }) => /^(?:before|after)(?:Each|All)\(/m.test(text)).map(({ path }) => path)).toEqual([]);
  });
});

describe('the reference page', () => {
  let api: TestApi;
  beforeAll(async () => {
    api = await startTestApi();
  });
  afterAll(() => api.stop());

  it('works without any other network', async () => {
    const html = await (await api.fetch('/docs')).text();
    expect([...html.matchAll(/(?:https?:)?\/\/[^\s'"<>)]+/g)].map(([address]) => address)).toEqual([]);
    const own = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path]) => path as string);
    expect(own.length).toBeGreaterThanOrEqual(3);
    for (const path of [...own, '/docs/contract.json']) {
      expect(path).toMatch(/^\/[^/]/);
      const answer = await api.fetch(path);
      expect([path, answer.status, (await answer.text()).length > 200]).toEqual([path, 200, true]);
    }
    const script = await (await api.fetch('/docs/start.js')).text();
    expect(script).toContain('tryItOutEnabled: true');
    expect(script).toContain('validatorUrl: null');
    const style = await (await api.fetch('/docs/swagger-ui.css')).text();
    expect([...style.matchAll(/url\(["']?https?:[^)]*/g), ...style.matchAll(/@import/g)]).toEqual([]);
  });
});
