import { ok } from '../setup/api.ts';
import type { Case } from './genericCases.ts';
import { makeSample, sendSample } from './samples.ts';

const policy = '/api/v1/workbooks/{workbook_id}/policies/{tag}';

/** A rule for a tag that no column has makes the workbook governed for the time of one request. */
const sendGoverned: Case = async (world, operation) => {
  const sample = await makeSample(world, operation);
  const params = { path: { workbook_id: world.workbook, tag: 'nobodys' } };
  ok(await world.owner.client.PUT(policy, { params, body: { effect: 'mask' } }));
  try {
    return await sendSample(world, operation, sample);
  } finally {
    ok(await world.owner.client.DELETE(policy, { params }));
  }
};

export const governedCases = {
  reviewWorkbook: { 'governed-workbook': sendGoverned },
  renderChart: { 'governed-workbook': sendGoverned },
  renderChartPng: { 'governed-workbook': sendGoverned },
};
