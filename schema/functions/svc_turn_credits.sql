-- Brings the books to the month: what is left of lots that have ended expires, and the plan's credits come. `p_plans` gives
-- the credits of each plan. Called with the account's lock held; returns the month.
CREATE OR REPLACE FUNCTION svc_turn_credits(p_account text, p_plans jsonb, p_at timestamptz) RETURNS integer
LANGUAGE plpgsql
AS $$
DECLARE
  month integer := svc_credit_month_of(p_account, p_at);
  month_key text := 'grant:' || svc_credit_month_name(month);
  included integer;
  move_key text;
  lot record;
BEGIN
  IF EXISTS (SELECT 1 FROM credit_movements WHERE account_id = p_account AND key = month_key) THEN
    RETURN month;
  END IF;
  SELECT (p_plans->>plan)::integer INTO included FROM accounts WHERE id = p_account;
  IF included IS NULL THEN
    RAISE EXCEPTION 'no account % with a plan of the price list', p_account USING ERRCODE = 'no_data_found';
  END IF;

  FOR lot IN SELECT * FROM svc_credit_lots(p_account) WHERE ends < month AND available > 0 LOOP
    move_key := 'expire:' || lot.source || ':' || svc_credit_month_name(lot.ends);
    INSERT INTO credit_movements (account_id, key, kind, at) VALUES (p_account, move_key, 'expire', p_at);
    PERFORM svc_shift_credits(p_account, move_key, p_at, lot.source, lot.ends, 'available', 'expired', lot.available);
  END LOOP;

  INSERT INTO credit_movements (account_id, key, kind, at) VALUES (p_account, month_key, 'grant', p_at);
  PERFORM svc_shift_credits(p_account, month_key, p_at, 'included', month, 'issued', 'available', included);
  RETURN month;
END;
$$;
