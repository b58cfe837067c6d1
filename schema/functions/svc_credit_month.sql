-- A month in UTC as a number that sorts: 202611.
CREATE OR REPLACE FUNCTION svc_credit_month(p_at timestamptz) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (extract(year FROM p_at AT TIME ZONE 'UTC') * 100 + extract(month FROM p_at AT TIME ZONE 'UTC'))::integer;
