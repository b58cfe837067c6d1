import { relative, sep } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { projectDir } from '../../store/config.ts';

/**
 * About how many seconds the longest files take, to start them first: begun last, one of them would run on alone.
 * `npm test` lists the longest files at the end of a whole run. A file that is not here follows these, by size.
 */
const knownSeconds: Record<string, number> = {
  'test/contract/problems.test.ts': 180,
  'test/tables/visibility.test.ts': 151,
  'test/faults/ingest.test.ts': 150,
  'test/abuse/abuse.test.ts': 132,
  'test/house.test.ts': 100,
  'test/faults/runtime.test.ts': 96,
  'test/ingest/hostile.test.ts': 93,
  'test/tables/query.test.ts': 91,
  'test/tables/compaction.test.ts': 84,
  'test/http/tableData.test.ts': 65,
  'test/sandbox/limits.test.ts': 55,
  'test/tables/wideTables.test.ts': 54,
  'test/ingest/oddInput.test.ts': 53,
  'test/ingest/badInput.test.ts': 52,
  'test/integration/sessions.test.ts': 52,
  'test/measured/structuring.test.ts': 45,
  'test/tables/badInput.test.ts': 43,
  'test/contract/outages.test.ts': 39,
  'test/tables/longRows.test.ts': 37,
};

export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const seconds = ({ moduleId }: TestSpecification) => knownSeconds[relative(projectDir, moduleId).split(sep).join('/')] ?? 0;
    const sorted = await super.sort(files);
    return sorted.sort((a, b) => seconds(b) - seconds(a));
  }
}
