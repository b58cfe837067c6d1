import { relative, sep } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { projectDir } from '../../store/config.ts';

/**
 * Seconds that the longest files take on two quiet cores, to start them first: begun last, one of them would run on alone.
 * `npm test` lists the longest files of a whole run; a file that is not here follows the others, by size.
 */
const knownSeconds: Record<string, number> = {
  'test/faults/runtime.test.ts': 110,
  'test/faults/ingest.test.ts': 110,
  'test/house.test.ts': 90,
  'test/tables/model.test.ts': 45,
  'test/measured/exceljsParity.test.ts': 45,
  'test/measured/structuring.test.ts': 45,
};

export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const seconds = ({ moduleId }: TestSpecification) => knownSeconds[relative(projectDir, moduleId).split(sep).join('/')] ?? 0;
    const sorted = await super.sort(files);
    return sorted.sort((a, b) => seconds(b) - seconds(a));
  }
}
