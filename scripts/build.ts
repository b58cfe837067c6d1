import { loadContract } from '../api/http/contract.ts';
import { prepareConsoleBundle } from '../store/builds/consoleBundle.ts';
import { prepareChartBundle } from '../store/charts/program.ts';
import { loadConfig } from '../store/config.ts';
import { prepareChildBundle } from '../store/duckdb/sandbox/program.ts';
import { prepareFileBundle } from '../store/fileProcesses/program.ts';
import { prepareWorkflowBundle } from '../store/temporal/bundle.ts';
import { createProcessRegistry } from './embedded/processRegistry.ts';
import { setUpPython } from './embedded/python.ts';
import { openOutput } from './embedded/report.ts';

/** `npm run build`: makes what the first start would make, for images and for folders that become read-only. */
await Promise.all([
  prepareWorkflowBundle(),
  prepareWorkflowBundle({ traced: true }),
  prepareWorkflowBundle({ sealed: true }),
  prepareWorkflowBundle({ traced: true, sealed: true }),
  prepareChildBundle(),
  prepareFileBundle(),
  prepareChartBundle(),
  prepareConsoleBundle(),
  loadContract(),
  setUpPython({ config: loadConfig(), report: openOutput(), registry: createProcessRegistry(null) }),
]);
console.log('Everything is built.');
