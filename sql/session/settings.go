package session

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/rotajobs/rota/sql/ddl"
)

// setting is a setting of a session.
type setting struct {
	title       string // name as SHOW and the protocol write it
	value       string // default value
	check       check  // nil: it cannot be changed
	description string
}

// check returns the canonical form of a value and whether the value is valid.
type check func(value string) (kept string, ok bool)

// serverVersion is the PostgreSQL version that clients see. They choose their catalogue queries by it.
const serverVersion = "15.0"

// settings holds all settings by name in lower case.
var settings = map[string]setting{
	"application_name":                    {"application_name", "", anyValue, "name of the client program"},
	"bytea_output":                        {"bytea_output", "hex", onlyValue("hex"), "output format of bytea; the only one is hex"},
	"client_encoding":                     {"client_encoding", "UTF8", encoding, "encoding of the client; the only one is UTF8"},
	"client_min_messages":                 {"client_min_messages", "notice", anyValue, "accepted without effect"},
	"datestyle":                           {"DateStyle", "ISO, MDY", dateStyle, "format of dates; the only one is ISO"},
	"default_transaction_isolation":       {"default_transaction_isolation", "read committed", isolation, "read committed, repeatable read or serializable; all behave the same"},
	"default_transaction_read_only":       {"default_transaction_read_only", "off", onOff, "whether new transactions, and statements outside of transactions, are read-only; on or off"},
	"extra_float_digits":                  {"extra_float_digits", "1", number, "a whole number; accepted without effect, numbers are always written in full"},
	"idle_in_transaction_session_timeout": {"idle_in_transaction_session_timeout", "0", timeout, "time a client may be idle in a transaction, such as 30s or 5min; 0: the limit of the server"},
	"idle_session_timeout":                {"idle_session_timeout", "0", timeout, "time a client may be idle, such as 30s or 5min; 0: the limit of the server"},
	"in_hot_standby":                      {"in_hot_standby", "off", nil, "whether the server is a standby; always off"},
	"integer_datetimes":                   {"integer_datetimes", "on", nil, "binary format of times; always 64-bit integers"},
	"intervalstyle":                       {"IntervalStyle", "postgres", onlyValue("postgres"), "output format of intervals; the only one is postgres"},
	"is_superuser":                        {"is_superuser", "on", nil, "whether the user has the privilege ADMIN"},
	"lc_collate":                          {"lc_collate", "C", nil, "collation; texts are compared byte by byte"},
	"lc_ctype":                            {"lc_ctype", "C", nil, "character classes; always C"},
	"lc_messages":                         {"lc_messages", "C", anyValue, "accepted without effect"},
	"lc_monetary":                         {"lc_monetary", "C", anyValue, "accepted without effect"},
	"lc_numeric":                          {"lc_numeric", "C", anyValue, "accepted without effect"},
	"lc_time":                             {"lc_time", "C", anyValue, "accepted without effect"},
	"lock_timeout":                        {"lock_timeout", "0", timeout, "accepted without effect: statements never wait for locks"},
	"max_identifier_length":               {"max_identifier_length", strconv.Itoa(ddl.NameMax), nil, "maximum length of a name in bytes"},
	"max_index_keys":                      {"max_index_keys", "32", nil, "the value of PostgreSQL"},
	"password_encryption":                 {"password_encryption", "scram-sha-256", onlyValue("scram-sha-256"), "how clients encrypt passwords; the only value is scram-sha-256"},
	"rota_version":                        {"rota_version", "", nil, "version of Rota"},
	"row_security":                        {"row_security", "on", onOff, "on or off; accepted without effect"},
	"search_path":                         {"search_path", "sys", anyValue, "schemas in which tables are found, after pg_catalog"},
	"server_encoding":                     {"server_encoding", "UTF8", nil, "encoding of the server; always UTF8"},
	"server_version":                      {"server_version", serverVersion, nil, "version of PostgreSQL that Rota is compatible with, and of Rota"},
	"server_version_num":                  {"server_version_num", "150000", nil, "server_version as a number"},
	"session_authorization":               {"session_authorization", "admin", nil, "name of the user"},
	"standard_conforming_strings":         {"standard_conforming_strings", "on", onlyValue("on"), "backslashes in strings are ordinary characters; the only value is on"},
	"statement_timeout":                   {"statement_timeout", "0", timeout, "time a statement may take, such as 500ms or 30s; 0: the limit of the server"},
	"synchronous_commit":                  {"synchronous_commit", "on", anyValue, "accepted without effect: commits are always durable"},
	"timezone":                            {"TimeZone", "UTC", zone, "time zone for times without one and for times shown, such as Europe/Berlin"},
	"transaction_isolation":               {"transaction_isolation", "read committed", isolation, "read committed, repeatable read or serializable; all behave the same"},
	"transaction_read_only":               {"transaction_read_only", "off", nil, "whether the transaction is read-only; SET TRANSACTION changes it"},
	"xmloption":                           {"xmloption", "content", anyValue, "accepted without effect"},
}

func anyValue(value string) (string, bool) { return value, true }

func onlyValue(word string) check {
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

// timeoutPattern is a time with or without a unit; without one it is milliseconds.
var timeoutPattern = regexp.MustCompile(`^ *([0-9]{1,12}) *(us|ms|s|min|h|d)? *$`)

var units = map[string]time.Duration{
	"us": time.Microsecond, "": time.Millisecond, "ms": time.Millisecond, "s": time.Second, "min": time.Minute, "h": time.Hour, "d": 24 * time.Hour,
}

// timeout is how long something may take, in milliseconds.
func timeout(value string) (string, bool) {
	found := timeoutPattern.FindStringSubmatch(value)
	if found == nil {
		return "", false
	}
	n, _ := strconv.ParseInt(found[1], 10, 64)
	unit := units[found[2]]
	if n > int64(timeoutMax/unit) {
		return "", false
	}
	return strconv.FormatInt((time.Duration(n) * unit).Milliseconds(), 10), true
}

const timeoutMax = 24 * 24 * time.Hour // the maximum of PostgreSQL

// zone checks a time zone name. It rejects local, because the zone of the server is not that of the client.
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
