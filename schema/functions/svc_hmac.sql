-- HMAC-SHA256 from the built-in hash. `inner_pad` and `outer_pad` are the key's two 64-byte pads; the key itself is
-- never in the database.
CREATE OR REPLACE FUNCTION svc_hmac(inner_pad bytea, outer_pad bytea, message bytea) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sha256(outer_pad || sha256(inner_pad || message));
