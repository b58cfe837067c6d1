/**
 * The functions that anybody's SQL may call, as names: a list of what is allowed, so that a function which a later DuckDB
 * brings is refused until somebody has looked at it. A test holds both lists against the engine's own catalogue: every
 * scalar, aggregate and macro is in exactly one of them.
 */

const operators = `
  !__postfix !~~ !~~* % & && * ** + - ->> / // <-> << <=> <@ >> @ @> ^ ^@ | || ~ ~~ ~~* ~~~
`;

const scalars = `
  abs acos acosh add age aggregate alias apply array_aggr array_aggregate array_apply array_cat array_concat array_contains
  array_cosine_distance array_cosine_similarity array_cross_product array_distance array_distinct array_dot_product array_extract
  array_filter array_grade_up array_has array_has_all array_has_any array_indexof array_inner_product array_intersect array_length
  array_negative_dot_product array_negative_inner_product array_position array_reduce array_resize array_reverse_sort array_select
  array_slice array_sort array_to_json array_transform array_unique array_value array_where array_zip ascii asin asinh atan atan2 atanh
  bar base64 bin bit_count bit_length bit_position bitstring cardinality cbrt ceil ceiling century char_length character_length chr concat
  concat_ws contains cos cosh cot current_date current_localtime current_localtimestamp damerau_levenshtein date_diff date_part date_sub
  date_trunc datediff datepart datesub datetrunc day dayname dayofmonth dayofweek dayofyear decade decode degrees divide editdist3
  element_at encode ends_with enum_code enum_first enum_last enum_range enum_range_boundary epoch epoch_ms epoch_ns epoch_us
  equi_width_bins era error even exp factorial filter flatten floor format formatReadableDecimalSize formatReadableSize format_bytes
  from_base64 from_binary from_hex from_json from_json_strict gamma gcd gen_random_uuid generate_series get_bit get_current_time
  get_current_timestamp grade_up greatest greatest_common_divisor hamming hash hex hour ilike_escape instr isfinite isinf isnan isodow
  isoyear jaccard jaro_similarity jaro_winkler_similarity json_array json_array_length json_contains json_exists json_extract
  json_extract_path json_extract_path_text json_extract_string json_keys json_merge_patch json_object json_pretty json_quote
  json_structure json_transform json_transform_strict json_type json_valid json_value julian last_day lcase lcm least
  least_common_multiple left left_grapheme len length length_grapheme levenshtein lgamma like_escape list_aggr list_aggregate list_apply
  list_cat list_concat list_contains list_cosine_distance list_cosine_similarity list_distance list_distinct list_dot_product list_element
  list_extract list_filter list_grade_up list_has list_has_all list_has_any list_indexof list_inner_product list_intersect
  list_negative_dot_product list_negative_inner_product list_pack list_position list_reduce list_resize list_reverse_sort list_select
  list_slice list_sort list_transform list_unique list_value list_where list_zip ln log log10 log2 lower lpad ltrim make_date make_time
  make_timestamp make_timestamp_ms make_timestamp_ns make_timestamptz map map_concat map_contains map_entries map_extract
  map_extract_value map_from_entries map_keys map_values md5 md5_number microsecond millennium millisecond minute mismatches mod month
  monthname multiply nanosecond nextafter nfc_normalize normalized_interval not_ilike_escape not_like_escape now octet_length ord
  parse_dirname parse_dirpath parse_filename parse_formatted_bytes parse_path pi position pow power prefix printf quarter radians random
  range reduce regexp_escape regexp_extract regexp_extract_all regexp_full_match regexp_matches regexp_replace regexp_split_to_array
  repeat replace reverse right right_grapheme round row row_to_json rpad rtrim second set_bit sha1 sha256 sign signbit sin sinh split sqrt
  starts_with str_split str_split_regex strftime string_split string_split_regex string_to_array strip_accents strlen strpos strptime
  struct_concat struct_contains struct_extract struct_extract_at struct_has struct_indexof struct_insert struct_keys struct_pack
  struct_position struct_update struct_values substr substring substring_grapheme subtract suffix switch tan tanh time_bucket timezone
  timezone_hour timezone_minute to_base to_base64 to_binary to_centuries to_days to_decades to_hex to_hours to_json to_microseconds
  to_millennia to_milliseconds to_minutes to_months to_quarters to_seconds to_timestamp to_weeks to_years today transaction_timestamp
  translate trim trunc try_strptime typeof ucase unbin unhex unicode union_extract union_tag union_value upper url_decode url_encode uuid
  uuid_extract_timestamp uuid_extract_version uuidv4 uuidv7 variant_extract variant_typeof week weekday weekofyear xor year yearweek
`;

const aggregates = `
  any_value approx_count_distinct approx_quantile approx_top_k arbitrary arg_max arg_max_null arg_max_nulls_last arg_min arg_min_null
  arg_min_nulls_last argmax argmin array_agg avg bit_and bit_or bit_xor bitstring_agg bool_and bool_or corr count count_if count_star
  countif covar_pop covar_samp cume_dist dense_rank entropy favg fill first first_value fsum group_concat histogram histogram_exact
  kahan_sum kurtosis kurtosis_pop lag last last_value lead list listagg mad max max_by mean median min min_by mode nth_value ntile
  percent_rank product quantile quantile_cont quantile_disc rank rank_dense regr_avgx regr_avgy regr_count regr_intercept regr_r2
  regr_slope regr_sxx regr_sxy regr_syy reservoir_quantile row_number sem skewness stddev stddev_pop stddev_samp string_agg sum
  sum_no_overflow sumkahan var_pop var_samp variance
`;

/** Macros that DuckDB defines in SQL; each one's text was read. */
const macros = `
  ago array_append array_pop_back array_pop_front array_prepend array_push_back array_push_front array_reverse array_to_string array_to_string_comma_default date_add
  days_in_month fdiv fmod generate_subscripts geomean geometric_mean json json_group_array json_group_object json_group_structure
  list_any_value list_append list_approx_count_distinct list_avg list_bit_and list_bit_or list_bit_xor list_bool_and list_bool_or
  list_count list_entropy list_first list_histogram list_kurtosis list_kurtosis_pop list_last list_mad list_max list_median list_min
  list_mode list_prepend list_product list_reverse list_sem list_skewness list_stddev_pop list_stddev_samp list_string_agg list_sum
  list_var_pop list_var_samp map_contains_entry map_contains_value md5_number_lower md5_number_upper nullif pg_size_pretty pg_typeof
  regexp_split_to_table round_even roundbankers split_part wavg weighted_avg
`;

/** Written by the parser or known to the binder, not listed in the catalogue. */
const special = 'unnest';

/** Refused, and why. The keys are what the refusal tells the caller. */
const refused = {
  'shows settings or the session': `
    current_setting getvariable current_database current_schema current_schemas current_catalog current_query current_query_id
    current_connection_id current_transaction_id txid_current version in_search_path current_role current_user session_user user
    inet_client_addr inet_client_port inet_server_addr inet_server_port`,
  'changes state outside of the query': 'setseed write_log nextval currval',
  'only waits': 'sleep_ms pg_sleep',
  'reads SQL or the catalog by name': `
    json_serialize_plan json_serialize_sql json_deserialize_sql get_block_size format_type format_pg_type map_to_pg_oid
    col_description obj_description shobj_description parse_duckdb_log_message`,
  'shows how the engine works inside': `
    stats vector_type create_sort_key icu_sort_key timetz_byte_comparable constant_or_null combine finalize remap_struct unpivot_list
    variant_bytes_to_variant variant_to_parquet_variant variant_normalize can_cast_implicitly is_histogram_other_bin make_type get_type
    replace_type cast_to_type`,
  'is not offered': 'st_asbinary st_astext st_aswkb st_aswkt st_crs st_geomfromwkb st_intersects_extent st_setcrs',
};

/** Whole families: internals, collations (use COLLATE), PostgreSQL's catalog. */
const refusedFamilies: [RegExp, string][] = [
  [/^__internal_/, 'shows how the engine works inside'],
  [/^icu_collate_/, 'is not offered; use COLLATE'],
  [/^(pg_|has_.*_privilege$)/, "belongs to PostgreSQL's catalog"],
];

const words = (text: string) => text.trim().split(/\s+/);

/** Functions that make one value of many rows. */
export const aggregateFunctions: ReadonlySet<string> = new Set(words(aggregates));

export const allowedFunctions: ReadonlySet<string> = new Set(
  [operators, scalars, aggregates, macros, special].flatMap(words).map((name) => name.toLowerCase()),
);

const refusedFunctions: ReadonlyMap<string, string> = new Map(
  Object.entries(refused).flatMap(([why, names]) => words(names).map((name) => [name, why] as const)),
);

/** Why a known function is refused; null for an unknown one. */
export function whyFunctionRefused(name: string): string | null {
  return refusedFunctions.get(name) ?? refusedFamilies.find(([pattern]) => pattern.test(name))?.[1] ?? null;
}

/** Functions and words that tell the time: the same query gives another answer later. `age` does so with one argument. */
export const clockFunctions: ReadonlySet<string> = new Set(
  words(`
    age ago current_date current_localtime current_localtimestamp current_time current_timestamp get_current_time get_current_timestamp
    localtime localtimestamp now today transaction_timestamp`),
);

/** Functions whose values come from a random state, which a connection keeps. */
export const randomFunctions: ReadonlySet<string> = new Set(words('gen_random_uuid random reservoir_quantile uuid uuidv4 uuidv7'));

/** Whether SQL may use a random state, by its text alone: functions can also be named in a string, and samples have no function. */
export const mayBeRandom = (sql: string): boolean => /random|uuid|reservoir|sample/i.test(sql);

/** Table functions allowed in FROM. */
export const allowedTableFunctions: ReadonlySet<string> = new Set(['range', 'generate_series', 'unnest']);

/** Words that DuckDB takes for a function call when no column has the name. */
export const sessionWords: ReadonlySet<string> = new Set([
  'current_catalog',
  'current_database',
  'current_schema',
  'current_role',
  'current_user',
  'session_user',
  'user',
]);
