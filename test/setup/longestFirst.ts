import { relative, sep } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { projectDir } from '../../store/config.ts';

/**
 * About how many seconds the longest files take, to start them first: begun last, one of them would run on alone.
 * `npm test` lists the longest files at the end of a whole run. A file that is not here follows these, by size.
 */
const knownSeconds: Record<string, number> = {
  'test/contract/problems.test.ts': 250,
  'test/governance/leaks/leaks.test.ts': 187,
  'test/abuse/abuse.test.ts': 184,
  'test/faults/runtime.test.ts': 178,
  'test/faults/ingest.test.ts': 176,
  'test/faults/cluster.test.ts': 171,
  'test/ingest/hostile.test.ts': 170,
  'test/faults/shutdown.test.ts': 150,
  'test/pages/console.walk.test.ts': 141,
  'test/tables/visibility.test.ts': 137,
  'test/ingest/fairShares.test.ts': 128,
  'test/house.test.ts': 120,
  'test/backup/backup.test.ts': 102,
  'test/http/tableData.test.ts': 100,
  'test/tables/query.test.ts': 91,
  'test/ingest/badInput.test.ts': 87,
  'test/tables/compaction.test.ts': 84,
  'test/integration/authentication.scopes.test.ts': 74,
  'test/ingest/oddInput.test.ts': 70,
  'test/tables/wideTables.test.ts': 70,
  'test/contract/badInput.test.ts': 70,
  'test/sandbox/limits.test.ts': 62,
  'test/tables/longRows.test.ts': 60,
  'test/contract/outages.test.ts': 60,
  'test/integration/sessions.test.ts': 52,
  'test/measured/structuring.test.ts': 48,
};

export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const seconds = ({ moduleId }: TestSpecification) => knownSeconds[relative(projectDir, moduleId).split(sep).join('/')] ?? 0;
    const sorted = await super.sort(files);
    return sorted.sort((a, b) => seconds(b) - seconds(a));
  }
}
