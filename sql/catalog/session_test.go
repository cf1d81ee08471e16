package catalog

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

// The results of these functions are specific to Rota, so they cannot be compared with
// PostgreSQL.
func TestSessionFunctions(t *testing.T) {
	c := New(subject)
	jobs := c.classByName[[2]string{"sys", "jobs"}].oid
	for _, test := range []struct {
		name string
		args []any
		want string
	}{
		{"current_database", nil, "rota"},
		{"current_catalog", nil, "rota"},
		{"session_user", nil, "postgres"},
		{"user", nil, "postgres"},
		{"version", nil, "PostgreSQL 15.0"},
		{"pg_backend_pid", nil, "7"},
		{"current_setting", []any{"server_version"}, "15.0"},
		{"has_table_privilege", []any{"sys.jobs", "INSERT"}, "f"},
		{"has_table_privilege", []any{jobs, "update, select"}, "t"},
		{"has_table_privilege", []any{"sys.jobs", "SELECT WITH GRANT OPTION"}, "f"},
		{"has_any_column_privilege", []any{"sys.jobs", "SELECT"}, "t"},
		{"has_schema_privilege", []any{"sys", "CREATE"}, "f"},
		{"has_database_privilege", []any{"rota", "CONNECT"}, "t"},
		{"has_database_privilege", []any{"rota", "TEMP"}, "f"},
		{"has_function_privilege", []any{"version()", "EXECUTE"}, "t"},
		{"pg_total_relation_size", []any{"sys.jobs"}, "0"},
		{"pg_table_is_visible", []any{jobs}, "f"},
		{"pg_table_is_visible", []any{int64(1259)}, "t"},
		{"pg_table_is_visible", []any{int64(7)}, ""},
		{"obj_description", []any{jobs}, "jobs are"},
		{"col_description", []any{jobs, int64(2)}, "jobs are job_name"},
		{"shobj_description", []any{int64(ourDatabase), "pg_database"}, "read-only database of the scheduler"},
		{"set_config", []any{"TimeZone", "UTC", int64(0)}, "UTC"},
		{"set_config", []any{"TimeZone", "Europe/Berlin", int64(0)}, "error 0A000"},
		{"to_regclass", []any{"none"}, ""},
		{"rota_regclass_text", []any{jobs}, "sys.jobs"},
		{"pg_get_functiondef", []any{int64(7)}, ""},
		{"pg_stat_get_numscans", []any{jobs}, "0"},
	} {
		if got := callResult(t, c, test.name, test.args...); got != test.want {
			t.Errorf("%s%v is %q, and not %q", test.name, test.args, got, test.want)
		}
	}
}

// Names in a schema of the search path are found and written without the schema.
func TestSearchPathResolvesNames(t *testing.T) {
	c, near := New(subject), &Env{User: "postgres", SearchPath: []string{"sys", "none"}}
	jobs, err := c.readClass(near, "jobs")
	must(t, err)
	if got := c.showClass(near, jobs); got != "jobs" {
		t.Errorf("it is written %s", got)
	}
	if path := strings.Join(c.path(near), " "); path != "pg_catalog sys" {
		t.Errorf("the path is %s", path)
	}
	last := &Env{SearchPath: []string{"sys", "pg_catalog"}}
	if path := strings.Join(c.path(last), " "); path != "sys pg_catalog" {
		t.Errorf("the path that names it is %s", path)
	}
}

// Settings of the session have priority over the defaults, and the session can change them.
func TestSessionSettingsOverrideDefaults(t *testing.T) {
	set := ""
	own := &Env{
		Setting: func(name string) (string, bool) { return "mine", name == "application_name" },
		Set: func(name, value string, local bool) error {
			if set = name + "=" + value; local {
				return errors.New("not for long")
			}
			return nil
		},
	}
	c := New(subject)
	for want, args := range map[string][]any{"mine": {"application_name"}, "UTC": {"timezone"}} {
		got, err := functionNamed(t, "current_setting", 1).Call(own, c, args)
		if must(t, err); got != want {
			t.Errorf("%v is %v", args, got)
		}
	}
	change := functionNamed(t, "set_config", 3)
	if got, err := change.Call(own, c, []any{"search_path", "sys", int64(0)}); err != nil || got != "sys" || set != "search_path=sys" {
		t.Errorf("%v, %v: %s", got, err, set)
	}
	if _, err := change.Call(own, c, []any{"search_path", "sys", int64(1)}); err == nil {
		t.Error("for the transaction it is changed all the same")
	}
}

// No function panics with missing arguments, unknown OIDs or invalid texts.
func TestFunctionsAcceptAnyArguments(t *testing.T) {
	c := New(subject)
	for _, f := range Functions() {
		for n := len(f.Args) - f.Optional; n <= len(f.Args); n++ {
			for _, arg := range []any{nil, int64(-1), int64(1259), int64(1 << 40), "", "sys.jobs", `"`, 2.5} {
				args := make([]any, n)
				for i := range args {
					args[i] = arg
				}
				answer, err := f.Call(env, c, args)
				var known *Error
				if err != nil && !errors.As(err, &known) {
					t.Errorf("%s%v: %v", f.Name, args, err)
				}
				if text, is := answer.(string); f.Set && (!is || !json.Valid([]byte(text))) {
					t.Errorf("%s%v is no list: %v", f.Name, args, answer)
				} else if !f.Set && !matchesKind(f.Returns, answer) {
					t.Errorf("%s%v is %#v, which is no %s", f.Name, args, answer, f.Returns)
				}
			}
		}
	}
}

// No row contains a password.
func TestCatalogShowsNoSecrets(t *testing.T) {
	for _, name := range []string{"pg_authid", "pg_roles", "pg_user", "pg_user_mapping", "pg_subscription", "pg_hba_file_rules"} {
		for _, row := range relationOf(t, New(subject), name).Rows {
			for _, v := range row {
				if text, is := v.(string); is && text != "postgres" && text != maskedPassword {
					t.Errorf("%s says %q", name, text)
				}
			}
		}
	}
}
