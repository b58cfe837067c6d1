import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DomainError, type ProblemCode, type ProblemItem } from '../../core/errors.ts';
import { bundleCode } from '../../store/builds/bundleCode.mjs';
import { keepBuild } from '../../store/builds/keepBuild.mjs';
import type { PreviewWanted } from './readPreview.ts';

const entries = { preview: 'activities/sources/previewProgram.ts' };
const sources = ['activities/sources', 'core', 'store'];
export const usualLimits = { timeoutMs: 30_000, heapMb: 512, memoryBytes: 1024 ** 3, outputBytes: 64 * 1024 * 1024 };
const lookMs = 100;

let prepared: Promise<string> | null = null;

function prepareProgram(): Promise<string> {
  prepared ??= keepBuild({
    name: 'preview',
    sources,
    make: () => bundleCode({ entries, sources, settings: { minify: true, keepNames: true } }),
  }).then((dir) => join(dir, 'preview.mjs'));
  prepared.catch(() => {
    prepared = null;
  });
  return prepared;
}

/** Reads a preview in a process that is killed when it takes too long or too much memory; returns its JSON. */
export async function previewInProcess(wanted: PreviewWanted, limits = usualLimits): Promise<string> {
  const child = spawn(process.execPath, [`--max-old-space-size=${limits.heapMb}`, await prepareProgram(), JSON.stringify(wanted)], {
    cwd: '/',
    env: {},
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const kill = () => child.kill('SIGKILL');
  const timer = setTimeout(kill, limits.timeoutMs);
  const look = setInterval(async () => {
    if ((await readMemory(child.pid ?? 0)) > limits.memoryBytes) kill();
  }, lookMs);
  try {
    const ended = new Promise<number | null>((resolve, reject) => child.once('error', reject).once('close', resolve));
    const pieces: Buffer[] = [];
    let size = 0;
    child.stdout.on('data', (piece: Buffer) => {
      size += piece.length;
      if (size > limits.outputBytes) kill();
      else pieces.push(piece);
    });
    const code = await ended;
    if (code === null) throw tooMuch();
    if (code !== 0) throw new Error(`the preview process ended with code ${code}`);
    return readOutput(Buffer.concat(pieces).toString('utf8'));
  } finally {
    clearTimeout(timer);
    clearInterval(look);
    kill();
  }
}

interface Refusal {
  code: ProblemCode;
  detail: string;
  suggestedFix: string;
  errors?: ProblemItem[];
}

function readOutput(text: string): string {
  if (!text.startsWith('{"refusal":')) return text;
  const { refusal } = JSON.parse(text) as { refusal: Refusal };
  throw new DomainError(refusal.code, refusal.detail, refusal.suggestedFix, { errors: refusal.errors });
}

/** Bytes in memory; 0 where this cannot be told. */
async function readMemory(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(text)?.[1] ?? 0) * 1024;
}

function tooMuch(): DomainError {
  return new DomainError(
    'too-large',
    'The file needs more time or memory than a preview may take.',
    'Read the tables that were made from it, or download the file.',
  );
}
