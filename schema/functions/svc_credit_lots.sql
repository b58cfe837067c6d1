-- In the order in which they are spent.
CREATE OR REPLACE FUNCTION svc_credit_lots(p_account text) RETURNS TABLE (source text, ends integer, available integer)
LANGUAGE sql STABLE
AS $$
  SELECT lot.source, lot.ends, svc_credit_balance(p_account, lot.source, lot.ends, 'available')
  FROM (SELECT DISTINCT e.source, e.ends FROM credit_entries e WHERE e.account_id = p_account AND e.bucket = 'issued') AS lot
  ORDER BY lot.source, lot.ends;
$$;
