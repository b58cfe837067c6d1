-- In the order of the ids, so that two runs cannot wait for each other.
CREATE OR REPLACE FUNCTION svc_grant_credits(p_accounts text[], p_plans jsonb, p_at timestamptz) RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
  account text;
BEGIN
  FOR account IN SELECT a FROM unnest(p_accounts) AS a ORDER BY a COLLATE "C" LOOP
    PERFORM svc_lock_credits(account);
    PERFORM svc_turn_credits(account, p_plans, p_at);
  END LOOP;
END;
$$;
