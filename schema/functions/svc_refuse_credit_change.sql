-- Movements and entries of credits are only ever added.
CREATE OR REPLACE FUNCTION svc_refuse_credit_change() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
  RAISE EXCEPTION 'the credit books are only added to' USING ERRCODE = 'restrict_violation';
END;
$$;
