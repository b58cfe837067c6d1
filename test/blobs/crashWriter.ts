import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { openBlobs } from '../../store/blobs/openBlobs.ts';

/** Puts files until it is killed; says on its output which are kept. */
const store = await openBlobs(JSON.parse(process.argv[2] ?? ''));
process.stdout.write('ready\n');
const work = async () => {
  for (let i = 0; ; i++) {
    const draft = await store.draft();
    await writeFile(draft, randomBytes(i % 2 === 0 ? 3_000 : 20_000_000));
    const { key } = await store.put('acc_crash/wb_1', draft, 'parquet');
    process.stdout.write(`${key}\n`);
  }
};
await Promise.all([work(), work(), work()]);
