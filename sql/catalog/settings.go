package catalog

import "strings"

// settingFacts are the settings that drivers and tools query: name, value, unit, category,
// context, type, minimum, maximum, enum values and description.
const settingFacts = `
application_name|||Reporting and Logging / What to Log|user|string||||name of the client application
array_nulls|on||Version and Platform Compatibility / Previous PostgreSQL Versions|user|bool||||an unquoted NULL in an array is a null value
backslash_quote|safe_encoding||Version and Platform Compatibility / Previous PostgreSQL Versions|user|enum|||safe_encoding,on,off|whether a backslash escapes a quote in a string
block_size|8192||Preset Options|internal|integer|8192|8192||size of a disk block in bytes
bytea_output|hex||Client Connection Defaults / Statement Behavior|user|enum|||escape,hex|output format of bytea values
check_function_bodies|on||Client Connection Defaults / Statement Behavior|user|bool||||whether function bodies are checked
client_encoding|UTF8||Client Connection Defaults / Locale and Formatting|user|string||||character encoding of the client
client_min_messages|notice||Client Connection Defaults / Statement Behavior|user|enum|||debug5,debug4,debug3,debug2,debug1,log,notice,warning,error|lowest level of messages sent to the client
cluster_name|||Reporting and Logging / Process Title|postmaster|string||||name of the server
data_checksums|off||Preset Options|internal|bool||||whether data blocks have checksums
DateStyle|ISO, MDY||Client Connection Defaults / Locale and Formatting|user|string||||output format of dates
default_table_access_method|heap||Client Connection Defaults / Statement Behavior|user|string||||default access method of new tables
default_tablespace|||Client Connection Defaults / Statement Behavior|user|string||||default tablespace of new tables
default_text_search_config|pg_catalog.simple||Client Connection Defaults / Locale and Formatting|user|string||||default text search configuration
default_transaction_isolation|read committed||Client Connection Defaults / Statement Behavior|user|enum|||serializable,repeatable read,read committed,read uncommitted|default isolation level of transactions
default_transaction_read_only|off||Client Connection Defaults / Statement Behavior|user|bool||||whether transactions are read-only by default
escape_string_warning|on||Version and Platform Compatibility / Previous PostgreSQL Versions|user|bool||||whether a backslash in an ordinary string causes a warning
extra_float_digits|1||Client Connection Defaults / Locale and Formatting|user|integer|-15|3||number of extra digits of floating-point values
hot_standby|on||Replication / Standby Servers|postmaster|bool||||whether a standby accepts queries
idle_in_transaction_session_timeout|0|ms|Client Connection Defaults / Statement Behavior|user|integer|0|2147483647||maximum idle time in a transaction
in_hot_standby|off||Preset Options|internal|bool||||whether the server is a standby
integer_datetimes|on||Preset Options|internal|bool||||whether times are stored as integers
IntervalStyle|postgres||Client Connection Defaults / Locale and Formatting|user|enum|||postgres,postgres_verbose,sql_standard,iso_8601|output format of intervals
jit|off||Query Tuning / Other Planner Options|user|bool||||whether queries are compiled just in time
lc_collate|C.UTF-8||Preset Options|internal|string||||collation of texts
lc_ctype|C.UTF-8||Preset Options|internal|string||||character classification
lc_messages|C.UTF-8||Client Connection Defaults / Locale and Formatting|superuser|string||||language of messages
lc_monetary|C.UTF-8||Client Connection Defaults / Locale and Formatting|user|string||||output format of monetary amounts
lc_numeric|C.UTF-8||Client Connection Defaults / Locale and Formatting|user|string||||output format of numbers
lc_time|C.UTF-8||Client Connection Defaults / Locale and Formatting|user|string||||output format of times
lock_timeout|0|ms|Client Connection Defaults / Statement Behavior|user|integer|0|2147483647||maximum wait for a lock
max_connections|100||Connections and Authentication / Connection Settings|postmaster|integer|1|262143||maximum number of connections
max_function_args|100||Preset Options|internal|integer|100|100||maximum number of function arguments
max_identifier_length|63||Preset Options|internal|integer|63|63||maximum length of a name in bytes
max_index_keys|32||Preset Options|internal|integer|32|32||maximum number of columns in an index
password_encryption|scram-sha-256||Connections and Authentication / Authentication|user|enum|||md5,scram-sha-256|hash algorithm of passwords
quote_all_identifiers|off||Version and Platform Compatibility / Previous PostgreSQL Versions|user|bool||||whether all identifiers are quoted in output
row_security|on||Client Connection Defaults / Statement Behavior|user|bool||||whether row security is enabled
search_path|"$user", public||Client Connection Defaults / Statement Behavior|user|string||||schemas searched for unqualified names
segment_size|131072|8kB|Preset Options|internal|integer|131072|131072||size of a segment in blocks
server_encoding|UTF8||Preset Options|internal|string||||character encoding of the database
server_version|||Preset Options|internal|string||||version of the server
server_version_num|150000||Preset Options|internal|integer|150018|150018||version of the server as a number
session_replication_role|origin||Client Connection Defaults / Statement Behavior|superuser|enum|||origin,replica,local|role of the session in replication
ssl|off||Connections and Authentication / SSL|sighup|bool||||whether TLS connections are enabled
standard_conforming_strings|on||Version and Platform Compatibility / Previous PostgreSQL Versions|user|bool||||whether a backslash is an ordinary character in strings
statement_timeout|0|ms|Client Connection Defaults / Statement Behavior|user|integer|0|2147483647||maximum duration of a statement
synchronous_commit|on||Write-Ahead Log / Settings|user|enum|||local,remote_write,remote_apply,on,off|what a commit waits for
temp_tablespaces|||Client Connection Defaults / Statement Behavior|user|string||||tablespaces of temporary tables
TimeZone|UTC||Client Connection Defaults / Locale and Formatting|user|string||||time zone of displayed times
timezone_abbreviations|Default||Client Connection Defaults / Locale and Formatting|user|string||||known abbreviations of time zones
transaction_deferrable|off||Client Connection Defaults / Statement Behavior|user|bool||||whether the start of a transaction may be deferred
transaction_isolation|read committed||Client Connection Defaults / Statement Behavior|user|enum|||serializable,repeatable read,read committed,read uncommitted|isolation level of the current transaction
transaction_read_only|off||Client Connection Defaults / Statement Behavior|user|bool||||whether the current transaction is read-only
wal_block_size|8192||Preset Options|internal|integer|8192|8192||size of a block of the write-ahead log in bytes
wal_level|replica||Write-Ahead Log / Settings|postmaster|enum|||minimal,replica,logical|level of detail of the write-ahead log
wal_segment_size|16777216|B|Preset Options|internal|integer|1048576|1073741824||size of a segment of the write-ahead log in bytes
work_mem|4096|kB|Resource Usage / Memory|user|integer|64|2147483647||memory limit of a sort
xmloption|content||Client Connection Defaults / Statement Behavior|user|enum|||content,document|whether XML data is a document or content
`

// settingRows fills pg_settings. A session can have other values; current_setting reads them
// from the session.
func (b *builder) settingRows() {
	for line := range strings.Lines(strings.TrimLeft(settingFacts, "\n")) {
		f := strings.Split(strings.TrimRight(line, "\n"), "|")
		name, value := f[0], f[1]
		if name == "server_version" {
			value = b.subject.Version
		}
		b.settings[strings.ToLower(name)] = value
		b.add("pg_settings", "name", name, "setting", value, "unit", orNull(f[2]), "category", f[3], "short_desc", f[9], "context", f[4],
			"vartype", f[5], "source", "default", "min_val", orNull(f[6]), "max_val", orNull(f[7]), "enumvals", enumValues(f[8]), "boot_val", value,
			"reset_val", value, "pending_restart", false)
	}
}

func orNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}

func enumValues(text string) any {
	if text == "" {
		return nil
	}
	return list(strings.Split(text, ",")...)
}
