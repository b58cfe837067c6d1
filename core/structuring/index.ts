export { analyze } from './analyze.ts';
export { build, buildSelected } from './build.ts';
export { describeSheets, type SheetLine } from './describe.ts';
export { type SheetExtent, summarizeSheets } from './extents.ts';
export * from './output.ts';
export { joinCells, listCells, type SourceCell, type SourceRange } from './provenance.ts';
export * from './spec.ts';
export { fromContract, type RegionJson, type SpecJson, toContract } from './specJson.ts';
export { describeMisfit, type SpecProblem, validateChoice, validateSpec } from './validate.ts';
