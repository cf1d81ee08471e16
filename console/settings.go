package console

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/rotajobs/rota/ddl"
)

// setting is something about a session that clients ask for or change.
type setting struct {
	title string // as SHOW and the protocol write it
	value string // if nobody says otherwise
	check check  // nil: it cannot be changed
	about string
}

// check says what a value is to be kept as, or that it cannot be.
type check func(value string) (kept string, ok bool)

// serverVersion is the PostgreSQL that clients take this for: by it they choose
// which columns of its catalogue they ask for.
const serverVersion = "15.0"

// settings are all there are, by their names in small letters.
var settings = map[string]setting{
	"application_name":                    {"application_name", "", anything, "what the client calls itself"},
	"bytea_output":                        {"bytea_output", "hex", only("hex"), "how bytes are written"},
	"client_encoding":                     {"client_encoding", "UTF8", encoding, "the only one is UTF8"},
	"client_min_messages":                 {"client_min_messages", "notice", anything, "accepted, and without effect"},
	"datestyle":                           {"DateStyle", "ISO, MDY", dateStyle, "the only one is ISO"},
	"default_transaction_isolation":       {"default_transaction_isolation", "read committed", isolation, "all are the same"},
	"default_transaction_read_only":       {"default_transaction_read_only", "off", onOff, "whether statements outside of transactions may only read"},
	"extra_float_digits":                  {"extra_float_digits", "1", number, "accepted, and without effect: numbers are written in full"},
	"idle_in_transaction_session_timeout": {"idle_in_transaction_session_timeout", "0", span, "how long a client may leave a transaction alone; 0: as the server says"},
	"idle_session_timeout":                {"idle_session_timeout", "0", span, "how long a client may say nothing; 0: as the server says"},
	"in_hot_standby":                      {"in_hot_standby", "off", nil, "it is none"},
	"integer_datetimes":                   {"integer_datetimes", "on", nil, "how times are sent in binary"},
	"intervalstyle":                       {"IntervalStyle", "postgres", only("postgres"), "how intervals are written"},
	"is_superuser":                        {"is_superuser", "on", nil, "there is one user"},
	"lc_collate":                          {"lc_collate", "C", nil, "texts are compared byte by byte"},
	"lc_ctype":                            {"lc_ctype", "C", nil, "as lc_collate"},
	"lc_messages":                         {"lc_messages", "C", anything, "accepted, and without effect"},
	"lc_monetary":                         {"lc_monetary", "C", anything, "accepted, and without effect"},
	"lc_numeric":                          {"lc_numeric", "C", anything, "accepted, and without effect"},
	"lc_time":                             {"lc_time", "C", anything, "accepted, and without effect"},
	"lock_timeout":                        {"lock_timeout", "0", span, "accepted, and without effect: nothing waits for locks"},
	"max_identifier_length":               {"max_identifier_length", strconv.Itoa(ddl.NameMax), nil, "bytes of a name"},
	"max_index_keys":                      {"max_index_keys", "32", nil, "as PostgreSQL has it"},
	"rota_version":                        {"rota_version", "", nil, "the version of this program"},
	"row_security":                        {"row_security", "on", onOff, "accepted, and without effect"},
	"search_path":                         {"search_path", "sys", anything, "where tables are looked for, behind pg_catalog"},
	"server_encoding":                     {"server_encoding", "UTF8", nil, "how texts are kept"},
	"server_version":                      {"server_version", serverVersion, nil, "the PostgreSQL that it is like, and its own"},
	"server_version_num":                  {"server_version_num", "150000", nil, "the same as a number"},
	"session_authorization":               {"session_authorization", "admin", nil, "who the client is"},
	"standard_conforming_strings":         {"standard_conforming_strings", "on", only("on"), "backslashes mean themselves"},
	"statement_timeout":                   {"statement_timeout", "0", span, "how long a statement may take, in milliseconds; 0: as the server says"},
	"synchronous_commit":                  {"synchronous_commit", "on", anything, "accepted, and without effect: what is done is on disk"},
	"timezone":                            {"TimeZone", "UTC", zone, "the zone that times without one are read in, and whose clock they are shown by"},
	"transaction_isolation":               {"transaction_isolation", "read committed", isolation, "all are the same"},
	"transaction_read_only":               {"transaction_read_only", "off", nil, "whether this one may only read; SET TRANSACTION changes it"},
	"xmloption":                           {"xmloption", "content", anything, "accepted, and without effect"},
}

func anything(value string) (string, bool) { return value, true }

func only(word string) check {
	return func(value string) (string, bool) { return word, strings.EqualFold(value, word) }
}

func onOff(value string) (string, bool) {
	switch strings.ToLower(value) {
	case "on", "true", "yes", "1", "t", "y":
		return "on", true
	case "off", "false", "no", "0", "f", "n":
		return "off", true
	}
	return "", false
}

func number(value string) (string, bool) {
	_, err := strconv.Atoi(value)
	return value, err == nil
}

func encoding(value string) (string, bool) {
	switch strings.ToLower(strings.NewReplacer("-", "", "_", "", `"`, "", "'", "").Replace(value)) {
	case "utf8", "unicode", "sqlascii":
		return "UTF8", true
	}
	return "", false
}

func dateStyle(value string) (string, bool) {
	for word := range strings.SplitSeq(value, ",") {
		switch strings.ToLower(strings.TrimSpace(word)) {
		case "iso", "mdy", "default", "us", "":
		default:
			return "", false
		}
	}
	return "ISO, MDY", true
}

func isolation(value string) (string, bool) {
	switch strings.ToLower(value) {
	case "read committed", "read uncommitted", "repeatable read", "serializable":
		return strings.ToLower(value), true
	}
	return "", false
}

// spanned is a time with or without a unit; without one it is milliseconds.
var spanned = regexp.MustCompile(`^ *([0-9]{1,12}) *(us|ms|s|min|h|d)? *$`)

var units = map[string]time.Duration{
	"us": time.Microsecond, "": time.Millisecond, "ms": time.Millisecond, "s": time.Second, "min": time.Minute, "h": time.Hour, "d": 24 * time.Hour,
}

// span is how long something may take, in milliseconds.
func span(value string) (string, bool) {
	found := spanned.FindStringSubmatch(value)
	if found == nil {
		return "", false
	}
	n, _ := strconv.ParseInt(found[1], 10, 64)
	unit := units[found[2]]
	if n > int64(spanMost/unit) {
		return "", false
	}
	return strconv.FormatInt((time.Duration(n) * unit).Milliseconds(), 10), true
}

const spanMost = 24 * 24 * time.Hour // as much as PostgreSQL takes

// zone is one of the database of time zones. What clients call their own is theirs
// to name.
func zone(value string) (string, bool) {
	if value == "" || strings.EqualFold(value, "local") || len(value) > ddl.NameMax {
		return "", false
	}
	for _, name := range []string{value, strings.ToUpper(value)} {
		if _, err := time.LoadLocation(name); err == nil {
			return name, true
		}
	}
	return "", false
}
