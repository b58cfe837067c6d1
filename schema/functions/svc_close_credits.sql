-- Ends a reservation, once: 'settle' spends it, 'release' gives it back to where it came from, and lets expire what comes
-- from a lot that has ended meanwhile. Both have the same key, so that one job cannot have both. `was` says how it had
-- ended before, and is null when it was ended here; no row comes back when the job has reserved nothing.
CREATE OR REPLACE FUNCTION svc_close_credits(p_account text, p_job text, p_kind text, p_at timestamptz)
RETURNS TABLE (was text, amount integer, workbook_id text)
LANGUAGE plpgsql
AS $$
DECLARE
  move_key text := 'close:' || p_job;
  month integer;
  held record;
BEGIN
  PERFORM svc_lock_credits(p_account);
  SELECT m.workbook_id INTO workbook_id FROM credit_movements m WHERE m.account_id = p_account AND m.key = 'reserve:' || p_job;
  IF NOT FOUND THEN
    RETURN;
  END IF;
  SELECT sum(e.amount) INTO amount FROM credit_entries e
  WHERE e.account_id = p_account AND e.key = 'reserve:' || p_job AND e.bucket = 'reserved';
  SELECT m.kind INTO was FROM credit_movements m WHERE m.account_id = p_account AND m.key = move_key;
  IF was IS NULL THEN
    month := svc_credit_month_of(p_account, p_at);
    INSERT INTO credit_movements (account_id, key, kind, ref, workbook_id, at)
    VALUES (p_account, move_key, p_kind, p_job, svc_close_credits.workbook_id, p_at);
    FOR held IN
      SELECT e.source, e.ends, e.amount FROM credit_entries e
      WHERE e.account_id = p_account AND e.key = 'reserve:' || p_job AND e.bucket = 'reserved'
    LOOP
      PERFORM svc_shift_credits(
        p_account, move_key, p_at, held.source, held.ends, 'reserved',
        CASE WHEN p_kind = 'settle' THEN 'spent' WHEN held.ends < month THEN 'expired' ELSE 'available' END, held.amount);
    END LOOP;
  END IF;
  RETURN NEXT;
END;
$$;
