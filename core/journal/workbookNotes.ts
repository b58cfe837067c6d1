import { audited, type Notes, oneOp } from './notes.ts';

export function workbookCreated(workbook: { id: string; visibility: string }): Notes {
  return { ...audited('workbook.created', workbook.id, { visibility: workbook.visibility }), usage: oneOp };
}

export function workbookConfigured(workbookId: string, fields: string[]): Notes {
  return { ...audited('workbook.configured', workbookId, { fields }), usage: oneOp };
}

/** Also noted in the account's journal, which outlives the workbook's. */
export function workbookDeleted(workbookId: string): { inWorkbook: Notes; inAccount: Notes } {
  const inAccount = audited('workbook.deleted', workbookId);
  return { inWorkbook: { ...inAccount, usage: oneOp }, inAccount };
}
