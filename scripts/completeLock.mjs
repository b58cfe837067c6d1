// Completes package-lock.json after `npm install` against a registry that lacks some packages for other platforms: npm
// then leaves them out of the lock, and `npm ci` refuses such a lock everywhere. They are optional and their versions are
// exact, so their entries can be written without having seen them.
import { readFileSync, writeFileSync } from 'node:fs';

const path = new URL('../package-lock.json', import.meta.url);
const lock = JSON.parse(readFileSync(path, 'utf8'));
const systems = ['android', 'darwin', 'freebsd', 'linux', 'openharmony', 'win32'];
const processors = ['arm', 'arm64', 'ia32', 'ppc64', 's390x', 'wasm32', 'x64'];
const added = [];

for (const [parent, { optionalDependencies = {}, dev }] of Object.entries(lock.packages)) {
  for (const [name, version] of Object.entries(optionalDependencies)) {
    const isThere = Object.keys(lock.packages).some((each) => each.endsWith(`node_modules/${name}`));
    if (parent === '' || isThere || !/^\d+\.\d+\.\d+/.test(version)) continue;
    lock.packages[`node_modules/${name}`] = describePackage(name, version, dev);
    added.push(`${name}@${version}`);
  }
}

const sorted = Object.entries(lock.packages).sort(([a], [b]) => a.localeCompare(b, 'en'));
if (added.length > 0) writeFileSync(path, `${JSON.stringify({ ...lock, packages: Object.fromEntries(sorted) }, null, 2)}\n`);
console.log(added.length > 0 ? `added ${added.join(', ')}` : 'package-lock.json is complete');

/** These packages carry their platform in their name. */
function describePackage(name, version, dev) {
  const words = name.split(/[/-]/);
  const cpu = processors.filter((each) => words.includes(each));
  const os = systems.filter((each) => words.includes(each));
  return {
    version,
    ...(cpu.length > 0 && { cpu }),
    ...(dev && { dev }),
    ...(words.includes('musl') && { libc: ['musl'] }),
    ...(words.includes('gnu') && { libc: ['glibc'] }),
    optional: true,
    ...(os.length > 0 && { os }),
  };
}
