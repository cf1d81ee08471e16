package translate

import "sort"

// scalars are functions whose result kind follows from their arguments. A function with another
// name or meaning in SQLite has its text here.
var scalars = parseFunctions(`
abs(number) number
acos(float8) float8
asin(float8) float8
atan(float8) float8
atan2(float8, float8) float8
cos(float8) float8
sin(float8) float8
tan(float8) float8
degrees(float8) float8
radians(float8) float8
cbrt(float8) float8 = rota_cbrt($1)
ceil(numeric) numeric = rota_ceil($1)
ceil(float8) float8 = rota_ceil($1)
ceiling(numeric) numeric = rota_ceil($1)
ceiling(float8) float8 = rota_ceil($1)
floor(numeric) numeric = rota_floor($1)
floor(float8) float8 = rota_floor($1)
sqrt(numeric) numeric = rota_sqrt($1)
sqrt(float8) float8 = rota_sqrt($1)
exp(numeric) numeric
exp(float8) float8
ln(numeric) numeric = rota_ln($1)
ln(float8) float8 = rota_ln($1)
log(numeric) numeric = rota_log($1)
log(float8) float8 = rota_log($1)
log(numeric, numeric) numeric = rota_log($2, $1)
log10(numeric) numeric = rota_log($1)
log10(float8) float8 = rota_log($1)
log2(number) float8 = rota_log($1, 2)
power(numeric, numeric) numeric = rota_power($1, $2)
power(float8, float8) float8 = rota_power($1, $2)
pow(numeric, numeric) numeric = rota_power($1, $2)
pow(float8, float8) float8 = rota_power($1, $2)
mod(int4, int4) int4 = rota_mod($1, $2)
mod(int8, int8) int8 = rota_mod($1, $2)
mod(numeric, numeric) numeric = rota_mod($1, $2)
div(numeric, numeric) numeric = rota_trunc(rota_quotient($1, $2), 0)
gcd(int4, int4) int4 = rota_gcd($1, $2)
gcd(int8, int8) int8 = rota_gcd($1, $2)
pi() float8
round(numeric) numeric = rota_round($1, 0)
round(float8) float8 = rota_rint($1)
round(numeric, int4) numeric = rota_round($1, $2)
trunc(numeric) numeric = rota_trunc($1, 0)
trunc(float8) float8 = rota_trunc($1, 0)
trunc(numeric, int4) numeric = rota_trunc($1, $2)
sign(numeric) numeric
sign(float8) float8
ascii(text) int4 = rota_ascii($1)
chr(int4) text = char($1)
bit_length(text) int4 = 8 * octet_length($1)
btrim(text) text = rota_trim($1, ' ', 3)
btrim(text, text) text = rota_trim($1, $2, 3)
trim(text) text = rota_trim($1, ' ', 3)
trim(text, text) text = rota_trim($1, $2, 3)
ltrim(text) text = rota_trim($1, ' ', 1)
ltrim(text, text) text = rota_trim($1, $2, 1)
rtrim(text) text = rota_trim($1, ' ', 2)
rtrim(text, text) text = rota_trim($1, $2, 2)
char_length(text) int4
character_length(text) int4 = char_length($1)
length(text) int4 = char_length($1)
length(bytea) int4 = length($1)
octet_length(text) int4
octet_length(bytea) int4
lower(text) text = rota_lower($1)
upper(text) text = rota_upper($1)
initcap(text) text = rota_initcap($1)
left(text, int4) text
right(text, int4) text
lpad(text, int4) text = rota_pad($1, $2, ' ', 1)
lpad(text, int4, text) text = rota_pad($1, $2, $3, 1)
rpad(text, int4) text = rota_pad($1, $2, ' ', 2)
rpad(text, int4, text) text = rota_pad($1, $2, $3, 2)
repeat(text, int4) text = rota_repeat($1, $2)
reverse(text) text = rota_reverse($1)
replace(text, text, text) text
translate(text, text, text) text = rota_translate($1, $2, $3)
strpos(text, text) int4 = instr($1, $2)
position(text, text) int4 = instr($2, $1)
instr(text, text) int4
overlay(text, text, int4) text = rota_overlay($1, $2, $3)
overlay(text, text, int4, int4) text = rota_overlay($1, $2, $3, $4)
substring(text, int4) text = rota_substr($1, $2)
substring(text, int4, int4) text = rota_substr($1, $2, $3)
substring(text, text) text = rota_regex_substr($1, $2)
substr(text, int4) text = rota_substr($1, $2)
substr(text, int4, int4) text = rota_substr($1, $2, $3)
split_part(text, text, int4) text = rota_split_part($1, $2, $3)
starts_with(text, text) bool = rota_starts($1, $2)
md5(text) text = rota_md5($1)
to_hex(int8) text = rota_to_hex($1)
quote_ident(text) text = rota_quote_ident($1)
quote_literal(any) text = rota_quote_literal($1)
quote_nullable(any) text = coalesce(rota_quote_literal($1), 'NULL')
regexp_replace(text, text, text) text = rota_regex_replace($1, $2, $3, '')
regexp_replace(text, text, text, text) text = rota_regex_replace($1, $2, $3, $4)
regexp_match(text, text) text[] = rota_regex_match($1, $2, '')
regexp_match(text, text, text) text[] = rota_regex_match($1, $2, $3)
regexp_like(text, text) bool = rota_regex($1, $2, '')
regexp_like(text, text, text) bool = rota_regex($1, $2, $3)
regexp_count(text, text) int4 = rota_regex_count($1, $2)
regexp_substr(text, text) text = rota_regex_whole($1, $2)
regexp_split_to_array(text, text) text[] = rota_regex_split($1, $2)
string_to_array(text, text) text[] = rota_string_to_array($1, $2, NULL)
string_to_array(text, text, text) text[] = rota_string_to_array($1, $2, $3)
encode(bytea, text) text = rota_encode($1, $2)
decode(text, text) bytea = rota_decode($1, $2)
now() timestamptz = now()
current_timestamp() timestamptz = now()
current_timestamp(int4) timestamptz = rota_precision(now(), $1)
clock_timestamp() timestamptz = now()
statement_timestamp() timestamptz = now()
transaction_timestamp() timestamptz = now()
localtimestamp() timestamp = substr(now(), 1, 26) | rota_moment('timestamp', now(), $z)
localtimestamp(int4) timestamp = rota_precision(substr(now(), 1, 26), $1) | rota_precision(rota_moment('timestamp', now(), $z), $1)
current_date() date = substr(now(), 1, 10) | rota_moment('date', now(), $z)
current_time() time = substr(now(), 12, 15) | rota_moment('time', now(), $z)
current_time(int4) time = rota_precision(substr(now(), 12, 15), $1) | rota_precision(rota_moment('time', now(), $z), $1)
localtime() time = substr(now(), 12, 15) | rota_moment('time', now(), $z)
localtime(int4) time = rota_precision(substr(now(), 12, 15), $1) | rota_precision(rota_moment('time', now(), $z), $1)
timeofday() text = rota_text('timestamptz', now()) | rota_text('timestamptz', now(), $z)
date_trunc(text, timestamptz) timestamptz = rota_date_trunc($1, $2) | rota_clock_trunc($1, $2, $z)
date_trunc(text, timestamptz, text) timestamptz = rota_date_trunc($1, $2, $3)
date_trunc(text, timestamp) timestamp = rota_date_trunc($1, $2)
date_trunc(text, interval) interval = rota_date_trunc($1, $2)
date_bin(interval, timestamptz, timestamptz) timestamptz = rota_date_bin($1, $2, $3)
date_bin(interval, timestamp, timestamp) timestamp = rota_date_bin($1, $2, $3)
age(timestamptz, timestamptz) interval = rota_age($1, $2) | rota_age($1, $2, $z)
age(timestamp, timestamp) interval = rota_age($1, $2)
age(timestamptz) interval = rota_age(substr(now(), 1, 10) || 'T00:00:00.000000Z', $1) | rota_age(rota_clock_trunc('day', now(), $z), $1, $z)
age(timestamp) interval = rota_age(substr(now(), 1, 10) || 'T00:00:00.000000', $1) | rota_age(rota_moment('date', now(), $z) || 'T00:00:00.000000', $1)
to_timestamp(float8) timestamptz = rota_to_timestamp($1)
to_timestamp(text, text) timestamptz = rota_parse_time($1, $2, 'timestamptz') | rota_parse_time($1, $2, 'timestamptz', $z)
to_date(text, text) date = rota_parse_time($1, $2, 'date')
to_char(timestamptz, text) text = rota_to_char($1, $2) | rota_to_char($1, $2, $z)
to_char(timestamp, text) text = rota_to_char($1, $2)
to_char(interval, text) text = rota_to_char($1, $2)
to_char(number, text) text = rota_number_to_char($1, $2)
make_date(int4, int4, int4) date = rota_make_date($1, $2, $3)
make_timestamptz(int4, int4, int4, int4, int4, float8) timestamptz = rota_make_time($1, $2, $3, $4, $5, $6) || 'Z' | rota_moment('timestamptz', rota_make_time($1, $2, $3, $4, $5, $6), $z)
make_timestamptz(int4, int4, int4, int4, int4, float8, text) timestamptz = rota_zone($7, rota_make_time($1, $2, $3, $4, $5, $6))
make_timestamp(int4, int4, int4, int4, int4, float8) timestamp = rota_make_time($1, $2, $3, $4, $5, $6)
justify_hours(interval) interval = rota_justify($1, 1)
justify_days(interval) interval = rota_justify($1, 2)
justify_interval(interval) interval = rota_justify($1, 3)
isfinite(timestamptz) bool = (substr($1, -1) <> 'y')
isfinite(date) bool = (substr($1, -1) <> 'y')
array_length(array, int4) int4 = rota_array_length($1, $2)
array_upper(array, int4) int4 = rota_array_length($1, $2)
array_lower(array, int4) int4 = rota_array_lower($1, $2)
array_ndims(array) int4 = rota_array_ndims($1)
cardinality(array) int4 = rota_cardinality($1)
array_to_string(array, text) text = rota_array_text($1, $2, NULL)
array_to_string(array, text, text) text = rota_array_text($1, $2, $3)
array_position(array, elem) int4 = rota_array_position($1, $2)
array_positions(array, elem) int4[] = rota_array_positions($1, $2)
array_append(array, elem) array = rota_array_cat($1, json_array($2))
array_remove(array, elem) array = rota_array_remove($1, $2)
array_cat(array, array) array = rota_array_cat($1, $2)
json_array_length(json) int4 = json_array_length($1)
json_array_length(json, text) int4 = json_array_length($1, $2)
jsonb_array_length(jsonb) int4 = json_array_length($1)
json_typeof(json) text = rota_json_typeof($1)
jsonb_typeof(jsonb) text = rota_json_typeof($1)
json_extract_path(json, text…) json = rota_reach($1, json_array($-), 0)
jsonb_extract_path(jsonb, text…) jsonb = rota_reach($1, json_array($-), 0)
json_extract_path_text(json, text…) text = rota_reach($1, json_array($-), 1)
jsonb_extract_path_text(jsonb, text…) text = rota_reach($1, json_array($-), 2)
json_strip_nulls(json) json = rota_json_strip($1)
jsonb_strip_nulls(jsonb) jsonb = rota_json_strip($1)
jsonb_pretty(jsonb) text = rota_json_pretty($1)
jsonb_set(jsonb, text[], jsonb) jsonb = rota_json_set($1, $2, $3, 1)
jsonb_set(jsonb, text[], jsonb, bool) jsonb = rota_json_set($1, $2, $3, $4)
hex(any) text
json(any) json
json_array(any…) json
json_extract(any, text) any
json_extract(any, text, text…) json
json_insert(any, text, any…) json
json_object(any…) json
json_patch(any, any) json
json_quote(any) json
json_remove(any, text…) json
json_replace(any, text, any…) json
json_set(any, text, any…) json
json_type(any, text?) text
json_valid(any, int4?) bool
julianday(any…) float8
unixepoch(any…) int8
strftime(text, any…) any
datetime(any…) text
time(any…) text
timediff(any, any) text
printf(text, any…) text
quote(any) text
typeof(any) text
unicode(text) int4
like(text, text, text?) bool
regexp(text, text, text?) bool
glob(text, text) bool
`)

// functionNames are the names of all functions, for suggestions.
var functionNames = func() (names []string) {
	for name := range scalars {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}()
