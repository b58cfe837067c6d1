export { analyze } from './analyze.ts';
export { type BuildOptions, build } from './build.ts';
export { describeSheets, type SheetLine } from './describe.ts';
export * from './output.ts';
export { listCells } from './provenance.ts';
export * from './spec.ts';
export { type SpecProblem, validateSpec } from './validate.ts';
