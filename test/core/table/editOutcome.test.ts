import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { presentDelete, presentOutcome, presentUpsert } from '../../../api/presenters/edits.ts';
import { type PreparedEdit, planRowEdit } from '../../../core/table/edit.ts';
import { completeAnswer, type EditOutcome, foreseeOutcome } from '../../../core/table/editOutcome.ts';

const count = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER });
const outcomes: fc.Arbitrary<EditOutcome> = fc.record({
  editVersion: count,
  opId: count,
  firstRowId: count,
  stale: fc.array(fc.string()),
});
/** New rows are counted from -1. */
const rowIds = fc.array(fc.oneof(fc.integer({ min: -1000, max: -1 }), count));

describe('completeAnswer', () => {
  it('gives the bytes of an answer that was written when all was known', () => {
    fc.assert(
      fc.property(outcomes, rowIds, fc.array(fc.array(fc.jsonValue())), (outcome, ids, values) => {
        const edit = { plan: planRowEdit('rows.upsert', []), rowIds: ids } as unknown as PreparedEdit;
        const foreseen = foreseeOutcome(outcome.editVersion - 1);
        const answers = (known: EditOutcome) => [
          presentUpsert(edit, known),
          presentDelete(edit, known),
          { range: 'A2', values, ...presentOutcome(known) },
        ];
        const stored = answers(foreseen).map((draft) => JSON.parse(JSON.stringify(draft)) as ReturnType<typeof presentUpsert>);
        const completed = stored.map((draft) => JSON.stringify(completeAnswer(draft, outcome)));
        expect(completed).toEqual(answers(outcome).map((whole) => JSON.stringify(whole)));
      }),
    );
  });
});
