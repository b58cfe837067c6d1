-- Seals how far a chain goes, so that entries cannot be cut off its end unnoticed.
CREATE OR REPLACE FUNCTION svc_head_seal(inner_pad bytea, outer_pad bytea, scope text, seq bigint, chain_hash bytea) RETURNS bytea
LANGUAGE sql STABLE PARALLEL SAFE
RETURN svc_hmac(inner_pad, outer_pad, convert_to('head ' || scope || ' ' || seq || ' ', 'UTF8') || chain_hash);
