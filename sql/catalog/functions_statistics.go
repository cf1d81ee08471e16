package catalog

import (
	"strings"

	"github.com/rotajobs/rota/sql/kind"
	"github.com/rotajobs/rota/sql/translate"
)

// Rota does not collect PostgreSQL's statistics: the numbers are 0 and the times are NULL.
// Rota's own statistics are in sys.performance.

// counters are the functions pg_stat_get_… of a relation, a database, a function or a backend.
const counters = `
	analyze_count autoanalyze_count autovacuum_count vacuum_count blocks_fetched blocks_hit dead_tuples live_tuples
	function_calls ins_since_vacuum mod_since_analyze numscans tuples_deleted tuples_fetched tuples_hot_updated
	tuples_inserted tuples_returned tuples_updated
	db_blocks_fetched db_blocks_hit db_checksum_failures db_conflict_all db_conflict_bufferpin db_conflict_lock
	db_conflict_snapshot db_conflict_startup_deadlock db_conflict_tablespace db_deadlocks db_sessions
	db_sessions_abandoned db_sessions_fatal db_sessions_killed db_temp_bytes db_temp_files db_tuples_deleted
	db_tuples_fetched db_tuples_inserted db_tuples_returned db_tuples_updated db_xact_commit db_xact_rollback
	xact_blocks_fetched xact_blocks_hit xact_function_calls xact_numscans xact_tuples_deleted xact_tuples_fetched
	xact_tuples_hot_updated xact_tuples_inserted xact_tuples_returned xact_tuples_updated`

// serverCounters are the functions pg_stat_get_… of the server.
const serverCounters = `
	bgwriter_buf_written_checkpoints bgwriter_buf_written_clean bgwriter_maxwritten_clean bgwriter_requested_checkpoints
	bgwriter_timed_checkpoints buf_alloc buf_fsync_backend buf_written_backend`

// durationNames are the functions that return durations in milliseconds.
const durationNames = `
	db_active_time db_blk_read_time db_blk_write_time db_idle_in_transaction_time db_session_time function_self_time
	function_total_time xact_function_self_time xact_function_total_time`

// timeNames are the functions that return times.
const timeNames = `
	db_checksum_last_failure db_stat_reset_time last_analyze_time last_autoanalyze_time last_autovacuum_time
	last_vacuum_time backend_start backend_xact_start backend_activity_start`

func statisticsFunctions() (all []Function) {
	for _, some := range []struct {
		names   string
		args    []kind.Kind
		returns kind.Kind
		value   any
	}{
		{counters, kinds(kind.OID), kind.Integer, int64(0)},
		{serverCounters, nil, kind.Integer, int64(0)},
		{durationNames, kinds(kind.OID), kind.Float, 0.0},
		{timeNames, kinds(kind.OID), kind.Timestamp, nil},
		{"db_numbackends", kinds(kind.OID), kind.Int4, int64(0)},
		{"checkpoint_sync_time checkpoint_write_time", nil, kind.Float, 0.0},
		{"bgwriter_stat_reset_time snapshot_timestamp", nil, kind.Timestamp, nil},
		{"backend_activity backend_wait_event backend_wait_event_type", kinds(kind.Int4), kind.Text, nil},
	} {
		for _, name := range strings.Fields(some.names) {
			all = append(all, fn("pg_stat_get_"+name, some.args, some.returns, constant(some.value)))
		}
	}
	return all
}

// unsupported implements a function that always fails with an explanation.
func unsupported(message, hint string) call {
	return func(*Env, *Catalog, []any) (any, error) { return nil, &Error{stateUnsupported, message, hint} }
}

// unsupportedFunctions are functions with side effects, which fail for any arguments.
func unsupportedFunctions() (all []Function) {
	for _, some := range []struct{ names, message, hint string }{
		{"pg_sleep pg_sleep_for pg_sleep_until", "a query cannot sleep: it would block a query slot of other sessions", "sleep in the client program"},
		{"pg_cancel_backend pg_terminate_backend", "a session cannot cancel or terminate another session", "to cancel a run, use CANCEL JOB"},
		{"nextval currval setval lastval", "sequences are not supported", ""},
		{"pg_notify", "NOTIFY is not supported", "to follow changes, read sys.audit"},
		{"pg_reload_conf pg_rotate_logfile pg_stat_reset", "a session cannot change the configuration of the server", ""},
		{
			"pg_advisory_lock pg_advisory_lock_shared pg_advisory_unlock pg_advisory_unlock_all pg_advisory_unlock_shared " +
				"pg_advisory_xact_lock pg_advisory_xact_lock_shared pg_try_advisory_lock pg_try_advisory_lock_shared " +
				"pg_try_advisory_xact_lock pg_try_advisory_xact_lock_shared",
			"advisory locks are not supported: other nodes would not see them",
			"to run only one of several jobs at a time, give them the same concurrency key",
		},
	} {
		for _, name := range strings.Fields(some.names) {
			s := translate.Signature{Name: name, Args: kinds(kind.Unknown), Optional: 1, Variadic: true, Returns: kind.Void}
			all = append(all, Function{s, unsupported(some.message, some.hint)})
		}
	}
	return all
}

// standardFunctions are the helper functions of the information schema, which some tools call.
var standardFunctions = []Function{
	typeAttribute("_pg_char_max_length", "character_maximum_length"), typeAttribute("_pg_char_octet_length", "character_octet_length"),
	typeAttribute("_pg_numeric_precision", "numeric_precision"), typeAttribute("_pg_numeric_precision_radix", "numeric_precision_radix"),
	typeAttribute("_pg_numeric_scale", "numeric_scale"), typeAttribute("_pg_datetime_precision", "datetime_precision"),
	fn("_pg_index_position", kinds(kind.OID, kind.Int2), kind.Int4, func(_ *Env, c *Catalog, args []any) (any, error) {
		index := c.classByOID[oidOr0(args[0])]
		if index == nil || index.kind != "i" {
			return nil, nil
		}
		keys, _, _ := keyNumbers(index)
		for i, key := range keys {
			if key == oidOr0(args[1]) {
				return int64(i + 1), nil
			}
		}
		return nil, nil
	}),
}

// typeAttribute declares a function that returns one attribute of a type with its modifier.
func typeAttribute(name, column string) Function {
	return fn(name, kinds(kind.OID, kind.Int4), kind.Int4, func(_ *Env, _ *Catalog, args []any) (any, error) {
		t := allTypes().byOID[oidOr0(args[0])]
		if t == nil {
			return nil, nil
		}
		pairs := typeAttributes(t, oidOr0(args[1]))
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == column {
				return storedValue(pairs[i+1]), nil
			}
		}
		return nil, nil
	})
}
