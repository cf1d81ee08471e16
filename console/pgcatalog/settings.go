package pgcatalog

import "strings"

// settingFacts are the settings that drivers and tools ask for: name, value, unit,
// category, context, type, least, most, words and what it is.
const settingFacts = `
application_name|||Reporting and Logging / What to Log|user|string||||what the client calls itself
array_nulls|on||Version and Platform Compatibility / Previous PostgreSQL Versions|user|bool||||NULL without quotes in an array is a null
backslash_quote|safe_encoding||Version and Platform Compatibility / Previous PostgreSQL Versions|user|enum|||safe_encoding,on,off|whether a backslash quotes in a text
block_size|8192||Preset Options|internal|integer|8192|8192||the size of a block, in bytes
bytea_output|hex||Client Connection Defaults / Statement Behavior|user|enum|||escape,hex|how bytes are written
check_function_bodies|on||Client Connection Defaults / Statement Behavior|user|bool||||whether bodies of functions are checked
client_encoding|UTF8||Client Connection Defaults / Locale and Formatting|user|string||||the encoding of the client
client_min_messages|notice||Client Connection Defaults / Statement Behavior|user|enum|||debug5,debug4,debug3,debug2,debug1,log,notice,warning,error|which messages a client is sent
cluster_name|||Reporting and Logging / Process Title|postmaster|string||||the name of the server
data_checksums|off||Preset Options|internal|bool||||whether blocks have checksums
DateStyle|ISO, MDY||Client Connection Defaults / Locale and Formatting|user|string||||how dates are written
default_table_access_method|heap||Client Connection Defaults / Statement Behavior|user|string||||how tables are kept
default_tablespace|||Client Connection Defaults / Statement Behavior|user|string||||where tables are kept
default_text_search_config|pg_catalog.simple||Client Connection Defaults / Locale and Formatting|user|string||||how texts are searched
default_transaction_isolation|read committed||Client Connection Defaults / Statement Behavior|user|enum|||serializable,repeatable read,read committed,read uncommitted|the isolation of transactions that say none
default_transaction_read_only|off||Client Connection Defaults / Statement Behavior|user|bool||||whether transactions that do not say so may write
escape_string_warning|on||Version and Platform Compatibility / Previous PostgreSQL Versions|user|bool||||whether a backslash in a text is warned of
extra_float_digits|1||Client Connection Defaults / Locale and Formatting|user|integer|-15|3||how many more digits of a float are written
hot_standby|on||Replication / Standby Servers|postmaster|bool||||whether a standby can be read
idle_in_transaction_session_timeout|0|ms|Client Connection Defaults / Statement Behavior|user|integer|0|2147483647||how long a transaction may rest
in_hot_standby|off||Preset Options|internal|bool||||whether this is a standby
integer_datetimes|on||Preset Options|internal|bool||||times are whole numbers of microseconds
IntervalStyle|postgres||Client Connection Defaults / Locale and Formatting|user|enum|||postgres,postgres_verbose,sql_standard,iso_8601|how intervals are written
jit|off||Query Tuning / Other Planner Options|user|bool||||whether queries are compiled
lc_collate|C.UTF-8||Preset Options|internal|string||||how texts are ordered
lc_ctype|C.UTF-8||Preset Options|internal|string||||what is a letter
lc_messages|C.UTF-8||Client Connection Defaults / Locale and Formatting|superuser|string||||the language of messages
lc_monetary|C.UTF-8||Client Connection Defaults / Locale and Formatting|user|string||||how sums of money are written
lc_numeric|C.UTF-8||Client Connection Defaults / Locale and Formatting|user|string||||how numbers are written
lc_time|C.UTF-8||Client Connection Defaults / Locale and Formatting|user|string||||how times are written
lock_timeout|0|ms|Client Connection Defaults / Statement Behavior|user|integer|0|2147483647||how long a lock is waited for
max_connections|100||Connections and Authentication / Connection Settings|postmaster|integer|1|262143||how many clients can be connected
max_function_args|100||Preset Options|internal|integer|100|100||how many arguments a function can have
max_identifier_length|63||Preset Options|internal|integer|63|63||how long a name can be, in bytes
max_index_keys|32||Preset Options|internal|integer|32|32||how many columns an index can have
password_encryption|scram-sha-256||Connections and Authentication / Authentication|user|enum|||md5,scram-sha-256|how passwords are kept
quote_all_identifiers|off||Version and Platform Compatibility / Previous PostgreSQL Versions|user|bool||||whether every name is written in quotes
row_security|on||Client Connection Defaults / Statement Behavior|user|bool||||whether the security of rows holds
search_path|"$user", public||Client Connection Defaults / Statement Behavior|user|string||||the schemas that are looked in for a name without one
segment_size|131072|8kB|Preset Options|internal|integer|131072|131072||the size of a segment, in blocks
server_encoding|UTF8||Preset Options|internal|string||||the encoding of the database
server_version|||Preset Options|internal|string||||the version of the server
server_version_num|150000||Preset Options|internal|integer|150018|150018||the version of the server, as a number
session_replication_role|origin||Client Connection Defaults / Statement Behavior|superuser|enum|||origin,replica,local|what the session is to replication
ssl|off||Connections and Authentication / SSL|sighup|bool||||whether connections can be encrypted
standard_conforming_strings|on||Version and Platform Compatibility / Previous PostgreSQL Versions|user|bool||||a backslash in a text is a backslash
statement_timeout|0|ms|Client Connection Defaults / Statement Behavior|user|integer|0|2147483647||how long a statement may take
synchronous_commit|on||Write-Ahead Log / Settings|user|enum|||local,remote_write,remote_apply,on,off|what a commit waits for
temp_tablespaces|||Client Connection Defaults / Statement Behavior|user|string||||where temporary tables are kept
TimeZone|UTC||Client Connection Defaults / Locale and Formatting|user|string||||the time zone of times that are shown
timezone_abbreviations|Default||Client Connection Defaults / Locale and Formatting|user|string||||which short names of time zones are known
transaction_deferrable|off||Client Connection Defaults / Statement Behavior|user|bool||||whether a transaction may wait to begin
transaction_isolation|read committed||Client Connection Defaults / Statement Behavior|user|enum|||serializable,repeatable read,read committed,read uncommitted|the isolation of this transaction
transaction_read_only|off||Client Connection Defaults / Statement Behavior|user|bool||||whether this transaction may write
wal_block_size|8192||Preset Options|internal|integer|8192|8192||the size of a block of the log, in bytes
wal_level|replica||Write-Ahead Log / Settings|postmaster|enum|||minimal,replica,logical|how much the log says
wal_segment_size|16777216|B|Preset Options|internal|integer|1048576|1073741824||the size of a segment of the log, in bytes
work_mem|4096|kB|Resource Usage / Memory|user|integer|64|2147483647||how much memory a sort may take
xmloption|content||Client Connection Defaults / Statement Behavior|user|enum|||content,document|whether XML is a document
`

// settingRows fills what speaks of settings. A session may have others; its own are
// asked of it by current_setting.
func (b *builder) settingRows() {
	for line := range strings.Lines(strings.TrimLeft(settingFacts, "\n")) {
		f := strings.Split(strings.TrimRight(line, "\n"), "|")
		name, value := f[0], f[1]
		if name == "server_version" {
			value = b.subject.Version
		}
		b.settings[strings.ToLower(name)] = value
		b.add("pg_settings", "name", name, "setting", value, "unit", orNull(f[2]), "category", f[3], "short_desc", f[9], "context", f[4],
			"vartype", f[5], "source", "default", "min_val", orNull(f[6]), "max_val", orNull(f[7]), "enumvals", words(f[8]), "boot_val", value,
			"reset_val", value, "pending_restart", false)
	}
}

func orNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}

func words(text string) any {
	if text == "" {
		return nil
	}
	return list(strings.Split(text, ",")...)
}
