import { relative, sep } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { projectDir } from '../../store/config.ts';

/**
 * About how many seconds the longest files take, to start them first: begun last, one of them would run on alone.
 * `npm test` lists the longest files at the end of a whole run. A file that is not here follows these, by size.
 */
const knownSeconds: Record<string, number> = {
  'test/faults/ingest.test.ts': 140,
  'test/house.test.ts': 110,
  'test/faults/runtime.test.ts': 80,
  'test/contract/problems.test.ts': 70,
  'test/sandbox/limits.test.ts': 50,
  'test/tables/compaction.test.ts': 50,
  'test/ingest/oddInput.test.ts': 45,
  'test/measured/structuring.test.ts': 45,
  'test/tables/wideTables.test.ts': 44,
  'test/tables/badInput.test.ts': 43,
  'test/contract/outages.test.ts': 39,
  'test/tables/longRows.test.ts': 37,
  'test/integration/sessions.test.ts': 36,
  'test/integration/idempotency.crash.test.ts': 25,
  'test/faults/database.test.ts': 25,
  'test/tables/model.test.ts': 20,
  'test/integration/idempotency.test.ts': 20,
  'test/tables/query.test.ts': 15,
  'test/tables/columns.test.ts': 15,
  'test/workflows/ingest.test.ts': 15,
  'test/workflows/compactTable.test.ts': 12,
};

export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const seconds = ({ moduleId }: TestSpecification) => knownSeconds[relative(projectDir, moduleId).split(sep).join('/')] ?? 0;
    const sorted = await super.sort(files);
    return sorted.sort((a, b) => seconds(b) - seconds(a));
  }
}
