-- Starts the journal of a new workbook or account.
CREATE OR REPLACE FUNCTION svc_open_head(p_scope text, p_account text, p_inner bytea, p_outer bytea) RETURNS void
LANGUAGE sql
AS $$
  INSERT INTO heads (scope, account_id, chain_hash, seal)
  SELECT p_scope, p_account, start, svc_head_seal(p_inner, p_outer, p_scope, 0, start)
  FROM (SELECT svc_chain_start(p_inner, p_outer, p_scope) AS start);
$$;
