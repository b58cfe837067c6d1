export { analyze } from './analyze.ts';
export { build } from './build.ts';
export * from './output.ts';
export * from './spec.ts';
export { describeSheets, type SheetLine } from './describe.ts';
export { listCells } from './provenance.ts';
