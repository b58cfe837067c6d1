export { analyze } from './analyze.ts';
export { build, buildSelected } from './build.ts';
export { describeSheets } from './describe.ts';
export { summarizeSheets } from './extents.ts';
export * from './output.ts';
export { joinCells, listCells, type SourceCell } from './provenance.ts';
export * from './spec.ts';
export { fromContract, type RegionJson, type SpecJson, toContract } from './specJson.ts';
export { describeMisfit, validateChoice, validateSpec } from './validate.ts';
