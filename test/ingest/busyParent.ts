import { loadConfig } from '../../store/config.ts';
import { openFileProcesses } from '../../store/fileProcesses/openFileProcesses.ts';

/** A process whose file process is busy without a pause; it says so, and waits to be killed. */

const [dir = '', path = '', isolation = 'any'] = process.argv.slice(2);
const files = await openFileProcesses({
  dir,
  searchPath: loadConfig().machine.searchPath,
  processes: 1,
  memoryBytes: 2 ** 31,
  timeMs: 600_000,
  isolation: isolation as 'any' | 'none',
});
await files.use('usr_1', async (file) => {
  const input = { path: await file.share(path), format: 'xlsx', filename: 'book.xlsx' };
  setTimeout(() => console.log('busy'), 500);
  for (;;)
    await file
      .ask({ op: 'structure', input, sourceName: 'book.xlsx', naming: 'ja', choice: 'ja', known: null } as { op: string })
      .catch(() => {});
});
