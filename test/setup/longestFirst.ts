import { relative, sep } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { projectDir } from '../../store/config.ts';

/**
 * About how many seconds the longest files take, to start them first: begun last, one of them would run on alone.
 * `npm test` lists the longest files at the end of a whole run. A file that is not here follows these, by size.
 */
const knownSeconds: Record<string, number> = {
  'test/contract/problems.test.ts': 370,
  'test/faults/ingest.test.ts': 305,
  'test/governance/leaks/leaks.test.ts': 262,
  'test/abuse/abuse.test.ts': 228,
  'test/faults/runtime.test.ts': 197,
  'test/faults/cluster.test.ts': 159,
  'test/ingest/hostile.test.ts': 155,
  'test/pages/console.walk.test.ts': 154,
  'test/tables/visibility.test.ts': 150,
  'test/house.test.ts': 125,
  'test/faults/shutdown.test.ts': 108,
  'test/backup/backup.test.ts': 101,
  'test/faults/builds.test.ts': 89,
  'test/transforms/staleness.test.ts': 86,
  'test/http/tableData.test.ts': 84,
  'test/tables/wideTables.test.ts': 82,
  'test/contract/badInput.test.ts': 72,
  'test/pages/console.test.ts': 68,
  'test/ingest/badInput.test.ts': 66,
  'test/integration/authentication.scopes.test.ts': 65,
  'test/tables/compaction.meanwhile.test.ts': 63,
  'test/sandbox/limits.test.ts': 60,
  'test/ingest/cancel.test.ts': 59,
  'test/ingest/fileProcesses.test.ts': 58,
  'test/transforms/views.test.ts': 58,
  'test/contract/outages.test.ts': 55,
  'test/ingest/oddInput.test.ts': 54,
  'test/faults/database.test.ts': 52,
  'test/tables/query.test.ts': 51,
  'test/faults/webhooks.test.ts': 48,
  'test/measured/structuring.test.ts': 48,
  'test/billing/stripeOrder.test.ts': 47,
};

export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const seconds = ({ moduleId }: TestSpecification) => knownSeconds[relative(projectDir, moduleId).split(sep).join('/')] ?? 0;
    const sorted = await super.sort(files);
    return sorted.sort((a, b) => seconds(b) - seconds(a));
  }
}
