import { pendingOperations } from '../api/handlers/pending.ts';
import { loadContract } from '../api/http/contract.ts';
import { prepareChildBundle } from '../store/duckdb/sandbox/program.ts';
import { prepareFileBundle } from '../store/fileProcesses/program.ts';
import { prepareWorkflowBundle } from '../store/temporal/bundle.ts';

/** `npm run build`: makes what the first start would make, for images and for folders that become read-only. */
await Promise.all([prepareWorkflowBundle(), prepareChildBundle(), prepareFileBundle(), loadContract(new Set(pendingOperations))]);
console.log('Everything is built.');
