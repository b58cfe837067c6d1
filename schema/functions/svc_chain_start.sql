-- The hash that stands before the first audit entry of a scope.
CREATE OR REPLACE FUNCTION svc_chain_start(inner_pad bytea, outer_pad bytea, scope text) RETURNS bytea
LANGUAGE sql STABLE PARALLEL SAFE
RETURN svc_hmac(inner_pad, outer_pad, convert_to('start ' || scope, 'UTF8'));
