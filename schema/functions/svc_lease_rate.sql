-- Takes up to `p_wanted` requests of a minute's allowance for one process; returns how many were granted and how many are left.
CREATE OR REPLACE FUNCTION svc_lease_rate(p_subject text, p_minute integer, p_limit integer, p_wanted integer)
RETURNS TABLE (granted integer, remaining integer)
LANGUAGE plpgsql
AS $$
DECLARE
  before integer;
BEGIN
  INSERT INTO rate_windows AS w (subject, minute, leased) VALUES (p_subject, p_minute, 0)
  ON CONFLICT (subject) DO UPDATE SET
    leased = CASE WHEN w.minute < p_minute THEN 0 ELSE w.leased END,
    minute = greatest(w.minute, p_minute)
  RETURNING w.leased INTO before;
  granted := greatest(0, least(p_wanted, p_limit - before));
  UPDATE rate_windows SET leased = before + granted WHERE subject = p_subject;
  remaining := p_limit - before - granted;
  RETURN NEXT;
END;
$$;
