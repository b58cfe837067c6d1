export * from './eras.ts';
export * from './period.ts';
