export * from './credits.ts';
export * from './identity.ts';
export * from './journal.ts';
export * from './requests.ts';
export * from './sources.ts';
export * from './tables.ts';
export * from './transforms.ts';
export * from './workbooks.ts';
