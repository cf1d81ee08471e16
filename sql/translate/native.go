package translate

import "strings"

// NativeFunctions are the functions of SQLite that the texts call. A caller that restricts the
// functions of a statement must allow these, [Functions], and the ones that Functions names.
// Aggregates that keep their input call rota_weigh(x) for each value, which returns true. A
// caller that limits the memory of a query replaces it by a function that counts the bytes,
// and declares it as not deterministic.
var NativeFunctions = strings.Fields(`
abs acos asin atan atan2 avg char coalesce concat concat_ws cos count cume_dist date datetime degrees dense_rank exp first_value glob group_concat hex
ifnull iif json json_array json_array_length json_extract json_group_array json_group_object json_insert json_object json_patch json_quote
json_remove json_replace json_set json_type json_valid julianday lag last_value lead length like max min nth_value ntile nullif octet_length
percent_rank pi pow printf quote radians rank replace row_number rtrim sign sin strftime substr sum tan time timediff total typeof unicode unixepoch -> ->>
json_each json_tree
`)
