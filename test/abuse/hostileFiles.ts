import { type Attack, count, formatBytes, type Outcome } from './attack.ts';
import { hostileFiles, sendFile } from './ingest.ts';

/** The worker starts and watches processes that read files; it reads none itself. */
const workerLimitBytes = 1024 ** 3;

/** One file after the other that asks for more than a file may, all at the same time. */
export const hostileUploads: Attack = {
  name: 'files that ask for too much',
  habits: ['read', 'upload'],
  seconds: { short: 60, full: 300 },
  async prepare(world, attacker, size) {
    const files = hostileFiles.map(({ name, make }) => ({ name, bytes: make(size === 'full' ? 1 : 0.05) }));
    return async () => {
      const outcome: Outcome = new Map();
      const target = { url: world.product.apiUrl, token: attacker.session, workbookId: attacker.workbookId };
      await Promise.all(
        files.map(async ({ name, bytes }, n) => {
          const { status, error, structuring } = await sendFile(target, `${name}${n}.xlsx`, bytes);
          count(outcome, error ? `${status} ${error}` : `${structuring}`);
        }),
      );
      return outcome;
    };
  },
  judge: ({ peaks }) => {
    const worker = peaks.get('worker') ?? 0;
    return worker > workerLimitBytes ? [`the worker took ${formatBytes(worker)}`] : [];
  },
};
