import { join } from 'node:path';
import { openPython } from '../../store/python/openPython.ts';
import { machine } from './world.ts';

/** A service that is about to be killed: lets a template run, and never ends it. */
const [dir = ''] = process.argv.slice(2);
const python = await openPython({ dir, ...machine, processes: 1, timeoutMs: 60_000, memoryBytes: 256 * 1024 * 1024 });
const template = 'def transform():\n    while True: pass';
void python.run({ userId: 'a', template, args: {}, resultPath: join(dir, 'result'), maxRows: 1, maxBytes: 1000 }).catch(() => {});
setTimeout(() => console.log('running'), 1_000);
setInterval(() => {}, 1_000);
