-- Holds credits for a job: 'reserved', also when it was done before; 'no_credits'; 'released' when they were given back.
CREATE OR REPLACE FUNCTION svc_reserve_credits(
  p_account text, p_workbook text, p_job text, p_amount integer, p_plans jsonb, p_at timestamptz
) RETURNS text
LANGUAGE plpgsql
AS $$
DECLARE
  move_key text := 'reserve:' || p_job;
  month integer;
  missing integer := p_amount;
  taken integer;
  lot record;
BEGIN
  PERFORM svc_lock_credits(p_account);
  IF EXISTS (SELECT 1 FROM credit_movements WHERE account_id = p_account AND key = move_key) THEN
    RETURN CASE
      WHEN EXISTS (SELECT 1 FROM credit_movements WHERE account_id = p_account AND key = 'close:' || p_job AND kind = 'release')
      THEN 'released' ELSE 'reserved'
    END;
  END IF;

  month := svc_turn_credits(p_account, p_plans, p_at);
  IF (SELECT coalesce(sum(available), 0) FROM svc_credit_lots(p_account) WHERE ends >= month) < p_amount THEN
    RETURN 'no_credits';
  END IF;
  INSERT INTO credit_movements (account_id, key, kind, ref, workbook_id, at)
  VALUES (p_account, move_key, 'reserve', p_job, p_workbook, p_at);
  FOR lot IN SELECT * FROM svc_credit_lots(p_account) WHERE ends >= month AND available > 0 LOOP
    EXIT WHEN missing = 0;
    taken := least(missing, lot.available);
    PERFORM svc_shift_credits(p_account, move_key, p_at, lot.source, lot.ends, 'available', 'reserved', taken);
    missing := missing - taken;
  END LOOP;
  RETURN 'reserved';
END;
$$;
