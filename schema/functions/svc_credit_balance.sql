CREATE OR REPLACE FUNCTION svc_credit_balance(p_account text, p_source text, p_ends integer, p_bucket text) RETURNS integer
LANGUAGE sql STABLE
RETURN coalesce((
  SELECT balance FROM credit_entries
  WHERE account_id = p_account AND bucket = p_bucket AND source = p_source AND ends = p_ends
  ORDER BY seq DESC LIMIT 1
), 0);
