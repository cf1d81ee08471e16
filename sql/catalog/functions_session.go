package catalog

import (
	"strings"
	"time"

	"github.com/rotajobs/rota/sql/kind"
	"github.com/rotajobs/rota/sql/translate"
)

// started is when this process began, as far as a session is to know.
var started = time.Now().UTC().Format("2006-01-02T15:04:05.000000Z")

// sessionFunctions return the user, the database and the server.
var sessionFunctions = []Function{
	fn("current_database", nil, kind.Name, databaseName), fn("current_catalog", nil, kind.Name, databaseName),
	fn("current_user", nil, kind.Name, userName), fn("session_user", nil, kind.Name, userName),
	fn("user", nil, kind.Name, userName), fn("current_role", nil, kind.Name, userName),
	fn("current_schema", nil, kind.Name, func(env *Env, c *Catalog, _ []any) (any, error) {
		if path := c.namedPath(env); len(path) > 0 {
			return path[0], nil
		}
		return nil, nil
	}),
	fn("current_schemas", kinds(kind.Boolean), kind.Name.Array(), func(env *Env, c *Catalog, args []any) (any, error) {
		if isTrue(args[0]) {
			return list(c.path(env)...), nil
		}
		return list(c.namedPath(env)...), nil
	}),
	fn("version", nil, kind.Text, func(env *Env, c *Catalog, _ []any) (any, error) {
		return "PostgreSQL " + env.version(c), nil
	}),
	fn("pg_backend_pid", nil, kind.Int4, func(env *Env, _ *Catalog, _ []any) (any, error) { return int64(env.PID), nil }),
	fn("pg_postmaster_start_time", nil, kind.Timestamp, constant(started)),
	fn("pg_conf_load_time", nil, kind.Timestamp, constant(started)),
	fn("pg_is_in_recovery", nil, kind.Boolean, constant(int64(0))),
	fn("pg_is_wal_replay_paused", nil, kind.Boolean, constant(int64(0))),
	fn("pg_my_temp_schema", nil, kind.OID, constant(int64(0))),
	fn("pg_is_other_temp_schema", kinds(kind.OID), kind.Boolean, constant(int64(0))),
	fn("inet_server_addr", nil, kind.Inet, constant(nil)), fn("inet_server_port", nil, kind.Int4, constant(nil)),
	fn("inet_client_addr", nil, kind.Inet, constant(nil)), fn("inet_client_port", nil, kind.Int4, constant(nil)),
	fn("pg_blocking_pids", kinds(kind.Int4), kind.Int4.Array(), constant("[]")),
	fn("pg_trigger_depth", nil, kind.Int4, constant(int64(0))),
	fn("pg_jit_available", nil, kind.Boolean, constant(int64(0))),
	fn("txid_current", nil, kind.Integer, constant(int64(1))), // nothing is written, so no transaction has a number of its own
	fn("txid_current_if_assigned", nil, kind.Integer, constant(nil)),
	fn("pg_current_xact_id", nil, kind.Integer, constant(int64(1))),
	fn("pg_current_xact_id_if_assigned", nil, kind.Integer, constant(nil)),
	fn("pg_export_snapshot", nil, kind.Text, unsupported("exporting a snapshot is not supported", "")),
}

func databaseName(env *Env, c *Catalog, _ []any) (any, error) {
	if env.Database != "" {
		return env.Database, nil
	}
	return c.subject.Database, nil
}

func userName(env *Env, c *Catalog, _ []any) (any, error) {
	if env.User != "" {
		return env.User, nil
	}
	return c.subject.Owner, nil
}

func (e *Env) version(c *Catalog) string {
	if e.Version != "" {
		return e.Version
	}
	return c.subject.Version
}

// setting returns a setting of the session, or else its default.
func (c *Catalog) setting(env *Env, name string) (string, bool) {
	if env.Setting != nil {
		if value, known := env.Setting(name); known {
			return value, true
		}
	}
	name = strings.ToLower(name)
	if name == "server_version" {
		return env.version(c), true
	}
	value, known := c.settings[name]
	return value, known
}

// settingFunctions read and change settings.
var settingFunctions = []Function{
	fn("current_setting", kinds(kind.Text, kind.Boolean), kind.Text, func(env *Env, c *Catalog, args []any) (any, error) {
		value, known := c.setting(env, textOf(args[0]))
		switch {
		case known:
			return value, nil
		case len(args) > 1 && isTrue(args[1]):
			return nil, nil
		}
		return nil, fail(stateNoObject, `unrecognized configuration parameter "%s"`, textOf(args[0]))
	}).optional(1),
	{translate.Signature{Name: "set_config", Args: kinds(kind.Text, kind.Text, kind.Boolean), Returns: kind.Text}, setConfig},
}

// setConfig changes a setting if the session supports that; otherwise only the current value is
// accepted.
func setConfig(env *Env, c *Catalog, args []any) (any, error) {
	name, value := textOf(args[0]), textOf(args[1])
	switch now, known := c.setting(env, name); {
	case args[0] == nil:
		return nil, fail("22004", "SET requires parameter name")
	case known && now == value:
		return value, nil
	case env.Set != nil:
		return value, env.Set(name, value, isTrue(args[2]))
	}
	return nil, &Error{stateUnsupported, `set_config cannot change the parameter "` + name + `" in this session`, "use SET"}
}
