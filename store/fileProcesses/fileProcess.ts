import { AsyncResource } from 'node:async_hooks';
import { join } from 'node:path';
import { DomainError, type ProblemCode, type ProblemItem } from '../../core/errors.ts';
import { shareFile, takeFile } from '../duckdb/sandbox/folders.ts';
import type { QueryProcess } from '../duckdb/sandbox/process.ts';

/** A process that reads files which strangers wrote, while it works on one of them. */
export interface FileProcess {
  /** Lets the process read a file; returns the path as the process sees it. */
  share(path: string): Promise<string>;
  /** Throws refusals of the file. An answer that is bytes comes as such. */
  ask(request: { op: string }, onProgress?: (progress: Progress) => void): Promise<unknown>;
  /** Moves a file that the process wrote. */
  take(name: string, target: string): Promise<void>;
}

export interface Progress {
  done: number;
  total: number | null;
}

/** What a process answers. A refusal is for whoever sent the file; an error is a fault of ours. */
export type FileReply =
  | { ok: true; value: unknown }
  | { ok: false; refusal: Refusal }
  | { ok: false; error: { name: string; message: string; stack: string } };

interface Refusal {
  code: ProblemCode;
  detail: string;
  suggestedFix: string;
  errors?: ProblemItem[];
  members?: Record<string, unknown>;
}

export function describeFault(error: unknown): FileReply {
  if (error instanceof DomainError) {
    const { code, detail, suggestedFix, extras } = error;
    return { ok: false, refusal: { code, detail, suggestedFix, errors: extras.errors, members: extras.members } };
  }
  const { name, message, stack } = error instanceof Error ? error : new Error(String(error));
  return { ok: false, error: { name, message, stack: stack ?? '' } };
}

/** Names are chosen by the process, which is not trusted. */
const isName = (name: unknown): name is string => typeof name === 'string' && /^[0-9a-z.]{1,40}$/.test(name) && !name.startsWith('.');

export function openFileProcess(process: QueryProcess, deadlineMs: number): FileProcess {
  let shared = 0;
  return {
    async share(path) {
      const name = `file${shared}`;
      shared += 1;
      await shareFile(path, join(process.folders.inDir, 'open', name), process.folders.owner);
      return join(process.seen.inDir, 'open', name);
    },
    async ask(request, onProgress = () => {}) {
      // In the scope of who asks: what comes from a socket would be in that of who started the process.
      process.listen(AsyncResource.bind((note: unknown) => onProgress(note as Progress)));
      const answer = await process.ask(request as never, Math.max(1, deadlineMs - Date.now()));
      const reply = answer.reply as unknown as FileReply;
      if (reply.ok) return answer.body.length > 0 ? answer.body : reply.value;
      if ('refusal' in reply) {
        const { code, detail, suggestedFix, ...extras } = reply.refusal;
        throw new DomainError(code, detail, suggestedFix, extras);
      }
      throw Object.assign(new Error(reply.error.message), reply.error);
    },
    async take(name, target) {
      if (!isName(name)) throw new Error('a process named a file as it may not');
      await takeFile(join(process.folders.outDir, name), target);
    },
  };
}
