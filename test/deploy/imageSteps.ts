import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { inheritEnvWithout } from '../../store/childEnv.ts';
import { projectDir } from '../../store/config.ts';
import { variableNames } from '../../store/variables.ts';
import { readStages } from './dockerfile.ts';

/** What came of the image: a folder that stands for its root. */
export interface Image {
  /** Its variables, with paths inside the folder. */
  env: Record<string, string>;
  /** Where it starts. */
  workDir: string;
  /** Program and arguments, without the first process, which only passes signals on. */
  entry: string[];
  user: { uid: number; gid: number };
}

/** Where a system keeps its programs. What somebody has in their home is in no image. */
export const systemPath = [dirname(process.execPath), '/usr/local/bin', '/usr/bin', '/bin', '/usr/sbin', '/sbin'].join(':');

/**
 * Does what deploy/Dockerfile says, in a folder instead of an image. Packages of the system are those of this machine; the second
 * stage finds what it copies from the first where that has put it.
 */
export function makeImage(root: string): Image {
  const inside = (path: string) => join(root, path);
  const image: Image = { env: {}, workDir: root, entry: [], user: { uid: 0, gid: 0 } };
  const pairs = (text: string) => text.split(/\s+/).map((pair) => pair.split('=') as [string, string]);
  const run = (text: string) => {
    if (text.startsWith('apt-get')) return console.log(`left out   ${text.slice(0, 100)}`);
    console.log(`running    ${text}`);
    if (text.startsWith('install --directory')) return makeDir(inside(text.split(' ').at(-1) as string));
    const env = inheritEnvWithout([...variableNames, 'NODE_ENV', 'npm_'], { PATH: systemPath, ...image.env });
    const { status } = spawnSync('/bin/sh', ['-ec', text], { cwd: image.workDir, env, stdio: 'inherit' });
    if (status !== 0) throw new Error(`it ended with ${status}`);
  };
  const copy = (text: string) => {
    if (text.startsWith('--from=')) return;
    console.log(`copying    ${text}`);
    const [target = '', ...sources] = text.split(' ').reverse();
    for (const source of sources)
      cpSync(join(projectDir, source), join(image.workDir, target, source === '.' ? '' : source), { recursive: true, filter: isCopied });
  };
  const steps: Record<string, (text: string) => void> = {
    ENV(text) {
      for (const [name, value] of pairs(text)) image.env[name] = value.startsWith('/') ? inside(value) : value;
    },
    WORKDIR(text) {
      image.workDir = inside(text);
      mkdirSync(image.workDir, { recursive: true });
    },
    RUN: run,
    COPY: copy,
    USER(text) {
      const [uid = 0, gid = 0] = text.split(':').map(Number);
      image.user = { uid, gid };
    },
    ENTRYPOINT(text) {
      image.entry = (JSON.parse(text) as string[]).slice(2);
    },
  };
  mkdirSync(root, { recursive: true });
  for (const dir of [root, dirname(root)]) chmodSync(dir, 0o755);
  for (const stage of readStages(readFileSync(join(projectDir, 'deploy/Dockerfile'), 'utf8'))) {
    image.env = {};
    for (const { name, text } of stage) steps[name]?.(text);
  }
  return image;
}

const ignored = readFileSync(join(projectDir, 'deploy/Dockerfile.dockerignore'), 'utf8').split('\n').filter(Boolean);

function isCopied(path: string): boolean {
  const name = relative(projectDir, path);
  return !ignored.some((pattern) => pattern === name || (pattern === '**/*.log' && basename(path).endsWith('.log')));
}

function makeDir(path: string): void {
  mkdirSync(path, { recursive: true });
  // Whoever starts it is not known yet.
  chmodSync(path, 0o777);
}
