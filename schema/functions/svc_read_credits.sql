-- This month's credits, for showing; `included` is null as long as the month's grant is not in the books. What was bought
-- counts with what has been used of it since the month began. Always: included + purchased - used = remaining.
-- One statement, so that it becomes a part of the query that asks.
CREATE OR REPLACE FUNCTION svc_read_credits(p_account text, p_at timestamptz)
RETURNS TABLE (included integer, purchased integer, used integer, remaining integer)
LANGUAGE sql STABLE
AS $$
  SELECT (sum(amount) FILTER (WHERE source = 'included'))::integer,
         coalesce(sum(amount) FILTER (WHERE source = 'purchased'), 0)::integer,
         coalesce(sum(amount) FILTER (WHERE bucket <> 'available'), 0)::integer,
         coalesce(sum(amount) FILTER (WHERE bucket = 'available'), 0)::integer
  FROM (
    SELECT lot.source, b.bucket, newest.balance - coalesce(before.balance, 0) AS amount
    FROM (
      SELECT DISTINCT e.source, e.ends FROM credit_entries e
      WHERE e.account_id = p_account AND e.bucket = 'issued' AND e.ends >= svc_credit_month(p_at)
    ) AS lot
    CROSS JOIN (VALUES ('available'), ('reserved'), ('spent')) AS b(bucket)
    CROSS JOIN LATERAL (
      SELECT e.balance FROM credit_entries e
      WHERE e.account_id = p_account AND e.bucket = b.bucket AND e.source = lot.source AND e.ends = lot.ends
      ORDER BY e.seq DESC LIMIT 1
    ) AS newest
    LEFT JOIN LATERAL (
      SELECT e.balance FROM credit_entries e
      WHERE e.account_id = p_account AND e.bucket = 'spent' AND e.source = lot.source AND e.ends = lot.ends
        AND e.at < date_trunc('month', p_at, 'UTC')
      ORDER BY e.at DESC, e.seq DESC LIMIT 1
    ) AS before ON b.bucket = 'spent' AND lot.source = 'purchased'
  ) AS balances;
$$;
