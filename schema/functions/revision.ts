/**
 * Raise the number whenever a function changes, so that an older process that starts later does not replace the newer functions.
 * The hash covers all files; a test prints the right one.
 */
export const functionsRevision = { number: 8, hash: '7e8251735d3dccdb1e3970d155697d02ce4e6f51367b259211a779eaf5e879bc' };

/**
 * Signatures of functions that have no file any more. Processes of the previous version may still call them, so on a database in
 * use they are dropped at the first start a day later. When parameters or result of a function change, its old signature goes
 * here.
 */
export const retiredFunctions = [
  'svc_buy_credits(text, text, integer, integer, timestamptz)',
  'svc_chain_valid(text, bytea, bytea)',
  'svc_close_credits(text, text, text, timestamptz)',
  'svc_credit_balance(text, text, integer, text)',
  'svc_credit_lots(text)',
  'svc_credit_month(timestamptz)',
  'svc_credit_month_name(integer)',
  'svc_credit_month_of(text, timestamptz)',
  'svc_credits_due(text, integer, timestamptz)',
  'svc_grant_credits(text[], jsonb, timestamptz)',
  'svc_lock_credits(text)',
  'svc_read_credits(text, timestamptz)',
  'svc_reserve_credits(text, text, text, integer, jsonb, timestamptz)',
  'svc_reserve_rows(text, bigint)',
  'svc_shift_credits(text, text, timestamptz, text, integer, text, text, integer)',
  'svc_turn_credits(text, jsonb, timestamptz)',
];
