CREATE OR REPLACE FUNCTION svc_credit_month_name(p_month integer) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (p_month / 100)::text || '-' || lpad((p_month % 100)::text, 2, '0');
