-- The bytes of the files among the layers of a manifest.
CREATE OR REPLACE FUNCTION svc_count_bytes(layers jsonb) RETURNS bigint
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN (SELECT coalesce(sum((entry->>'bytes')::bigint), 0) FROM jsonb_array_elements(layers) AS part(entry));
