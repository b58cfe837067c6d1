-- The accounts, of those after one, that the month is new to.
CREATE OR REPLACE FUNCTION svc_credits_due(p_after text, p_limit integer, p_at timestamptz) RETURNS TABLE (id text)
LANGUAGE sql STABLE
AS $$
  SELECT a.id FROM accounts a
  WHERE a.id > p_after AND a.deleted_at IS NULL AND NOT EXISTS (
    SELECT 1 FROM credit_entries e
    WHERE e.account_id = a.id AND e.bucket = 'issued' AND e.source = 'included' AND e.ends >= svc_credit_month(p_at)
  )
  ORDER BY a.id LIMIT p_limit;
$$;
