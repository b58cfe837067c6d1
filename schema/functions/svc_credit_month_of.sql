-- The month that the books are in: the clock's, unless a later one has begun in them already. So a transaction that began
-- before midnight and got its turn after it cannot go back.
CREATE OR REPLACE FUNCTION svc_credit_month_of(p_account text, p_at timestamptz) RETURNS integer
LANGUAGE sql STABLE
RETURN greatest(svc_credit_month(p_at), (
  SELECT ends FROM credit_entries
  WHERE account_id = p_account AND bucket = 'issued' AND source = 'included'
  ORDER BY ends DESC LIMIT 1
));
