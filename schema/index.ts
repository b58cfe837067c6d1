export * from './identity.ts';
export * from './journal.ts';
export * from './requests.ts';
export * from './workbooks.ts';
