package node

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/action"
)

// noEnv is an environment without variables.
func noEnv(string) string { return "" }

// variablesOf is an environment with the given NAME=VALUE entries.
func variablesOf(entries ...string) func(string) string {
	return func(name string) string {
		for _, entry := range entries {
			if text, ours := strings.CutPrefix(entry, name+"="); ours {
				return text
			}
		}
		return ""
	}
}

// configFile writes a configuration file and returns its path.
func configFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "test.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestDefaults(t *testing.T) {
	t.Chdir(t.TempDir())
	c, err := Load("", noEnv)
	if err != nil {
		t.Fatal(err)
	}
	if c.Data != "rota-data" || c.Store != "sqlite:rota-data/rota.db" || c.HTTP != "127.0.0.1:7420" || c.SQL != "127.0.0.1:7432" || c.Workers != 16 ||
		c.Lease != 30*time.Second || c.LogMax != 10<<20 || c.LogKeep != 30*day || *c.Retention != rota.DefaultRetention {
		t.Errorf("%+v", c)
	}
	if err := c.validate(); err != nil {
		t.Error("the defaults are refused:", err)
	}
}

func TestDefaultStoreIsInDataDirectory(t *testing.T) {
	c, err := Load(configFile(t, "data: elsewhere"), noEnv)
	if err != nil || c.Store != "sqlite:elsewhere/rota.db" {
		t.Errorf("%q, %v", c.Store, err)
	}
}

func TestFlagsOverrideVariablesOverrideFile(t *testing.T) {
	file := configFile(t, "workers: 2\nname: file\nhttp: 127.0.0.1:2\nretention:\n  dead: {age: 7d}\n")
	env := variablesOf("ROTA_WORKERS=3", "ROTA_NAME=env", "ROTA_RETENTION_DEAD_COUNT=5")
	c, err := Load(file, env, FlagValue{"workers", "4"})
	if err != nil {
		t.Fatal(err)
	}
	if c.Workers != 4 || c.Name != "env" || c.HTTP != "127.0.0.1:2" {
		t.Errorf("workers %d, name %q, http %q; want that of the flag, the variable and the file", c.Workers, c.Name, c.HTTP)
	}
	if want := (rota.Keep{Age: 7 * day, Count: 5}); c.Retention.Dead != want || c.Retention.Completed != rota.DefaultRetention.Completed {
		t.Errorf("retention %+v", *c.Retention)
	}
	if rota.DefaultRetention.Dead.Age != 90*day {
		t.Error("loading changed rota.DefaultRetention")
	}
}

// TestEverySettingIsReadFromFileVariableAndFlag sets each setting from each source to
// a value other than its default, and checks that Config has that value.
func TestEverySettingIsReadFromFileVariableAndFlag(t *testing.T) {
	others := map[string]string{
		"data": "/srv/rota", "store": "sqlite:other.db", "http": "[::1]:80", "sql": ":0", "sql_cert": "a.crt", "sql_key": "a.key", "sql_tls": "require", "insecure": "true", "user_rate": "100/1s",
		"http_cert": "b.crt", "http_key": "b.key", "http_client_ca": "ca.crt", "http_client_cert": "require", "sql_client_ca": "ca.crt", "sql_client_cert": "require", "workers": "3", "name": "w-1@host",
		"lease": "1m", "cancel_grace": "5s", "shutdown_grace": "2m", "log_level": "debug", "log_format": "json",
		"log_max": "1MiB", "log_keep": "7d", "prune_every": "10m", "http_rate": "5000/1s",
		"memory_limit": "1GiB", "http_hosts": "rota.example.org, rota", "http_allow": "10.0.0.0/8, intranet.example.org", "webhook_workers": "4", "audit_keys": strings.Repeat("ab", 32) + ", " + strings.Repeat("cd", 32), "environment": "staging",
		"sentry_dsn": "https://key@sentry.example.org/7", "otlp_endpoint": "http://127.0.0.1:4318", "otlp_headers": "api-key=secret", "trace_sample": "0.25", "retention.audit": "90d",
	}
	hidden := map[string]bool{"sentry_dsn": true, "otlp_headers": true} // what has a key in it is not shown
	for _, s := range Settings() {
		text := others[s.Key]
		if strings.HasSuffix(s.Key, ".age") || strings.HasSuffix(s.Key, ".count") {
			text = map[bool]string{true: "3d", false: "77"}[strings.HasSuffix(s.Key, ".age")]
		}
		if text == "" || text == s.Default() {
			t.Errorf("%s: the test has no other value than the default %q", s.Key, s.Default())
			continue
		}
		for source, load := range map[string]func() (Config, error){
			"file": func() (Config, error) { return Load(configFile(t, nest(s.Key, text)), noEnv) },
			"env":  func() (Config, error) { return Load(configFile(t, ""), variablesOf(s.Variable()+"="+text)) },
			"flag": func() (Config, error) { return Load(configFile(t, ""), noEnv, FlagValue{s.Key, text}) },
		} {
			c, err := load()
			if err != nil {
				t.Errorf("%s by %s: %v", s.Key, source, err)
				continue
			}
			want := text
			if hidden[s.Key] {
				want = "…"
			}
			if got := s.field(&c).String(); got != want {
				t.Errorf("%s by %s is %q, want %q", s.Key, source, got, want)
			}
		}
	}
}

// nest writes a key with dots as nested YAML.
func nest(key, text string) string {
	parts := strings.Split(key, ".")
	for i, part := range parts {
		parts[i] = strings.Repeat("  ", i) + part + ":"
	}
	return strings.Join(parts, "\n") + " '" + text + "'\n"
}

func TestDurationsAndSizesAreParsed(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"90s": 90 * time.Second, "1h30m": 90 * time.Minute, "2 MINUTES": 2 * time.Minute, "30 DAYS": 30 * day, "30d": 30 * day, "0": 0,
	} {
		if got, err := parseDuration(text); err != nil || got != want {
			t.Errorf("%s is %v, %v", text, got, err)
		}
	}
	for text, want := range map[string]int64{
		"10MiB": 10 << 20, "1 GiB": 1 << 30, "64KiB": 64 << 10, "2MB": 2e6, "5kB": 5e3, "12B": 12, "4096": 4096,
	} {
		if got, err := parseSize(text); err != nil || got != want {
			t.Errorf("%s is %v, %v", text, got, err)
		}
	}
}

// TestInvalidSettingNamesValueAndRemedy checks that each error names the position, the
// problem and the remedy. FILE is a placeholder for the path of the file.
func TestInvalidSettingNamesValueAndRemedy(t *testing.T) {
	const none = ""
	for _, row := range []struct {
		file, env string
		flag      FlagValue
		where     string
		want      []string
	}{
		{"workers: many", none, FlagValue{}, "FILE:1", []string{"workers", `"many" is not a whole number`, "1 to 10000"}},
		{"\n\n# so\nworkers: 0", none, FlagValue{}, "FILE:4", []string{"0 is out of range"}},
		{"workers: -1", none, FlagValue{}, "FILE:1", []string{"-1 is out of range"}},
		{"workers: 10001", none, FlagValue{}, "FILE:1", []string{"out of range"}},
		{"workers: 1.5", none, FlagValue{}, "FILE:1", []string{"not a whole number"}},
		{"workers: 0x10", none, FlagValue{}, "FILE:1", []string{"not a whole number"}},
		{"workers: 99999999999999999999", none, FlagValue{}, "FILE:1", []string{"out of range"}},
		{"workers: true", none, FlagValue{}, "FILE:1", []string{"not a whole number"}},
		{"workers:", none, FlagValue{}, "FILE:1", []string{"no value", "remove the line"}},
		{"workers: ~", none, FlagValue{}, "FILE:1", []string{"no value"}},
		{"workers: [1]", none, FlagValue{}, "FILE:1", []string{"not a scalar"}},
		{"workers: {a: 1}", none, FlagValue{}, "FILE:1", []string{"not a scalar"}},
		{"workers: 1\nname: a\nworkers: 2", none, FlagValue{}, "FILE:3", []string{"workers"}},
		{"wrokers: 4", none, FlagValue{}, "FILE:1", []string{`unknown setting "wrokers"`, "did you mean workers?"}},
		{"exce: {allow: [/bin/sh]}", none, FlagValue{}, "FILE:1", []string{"did you mean exec?"}},
		{"target: {a: {url: x}}", none, FlagValue{}, "FILE:1", []string{"did you mean targets?"}},
		{"retentions: {jobs: 1d}", none, FlagValue{}, "FILE:1", []string{"did you mean retention?"}},
		{"log-level: info", none, FlagValue{}, "FILE:1", []string{"did you mean log_level?"}},
		{"name: a\nelephants: 4", none, FlagValue{}, "FILE:2", []string{`unknown setting "elephants"`, "--help"}},
		{"retention: 30d", none, FlagValue{}, "FILE:1", []string{"a section, not a setting", "completed, skipped, cancelled, dead, audit"}},
		{"retention:\n  completed: 30d", none, FlagValue{}, "FILE:2", []string{"a section, not a setting", "age, count"}},
		{"retention:\n  completd:\n    age: 1d", none, FlagValue{}, "FILE:2", []string{"unknown setting"}},
		{"retention:\n  dead:\n    age: soon", none, FlagValue{}, "FILE:3", []string{"retention.dead.age", "not a duration"}},
		{"retention:\n  dead:\n    count: -4", none, FlagValue{}, "FILE:3", []string{"out of range"}},
		{"retention.dead.age: -1h", none, FlagValue{}, "FILE:1", []string{"out of range"}},
		{"retention.audit: 59m59s", none, FlagValue{}, "FILE:1", []string{"retention.audit", "59m59s is too short", "sent again", "at least 1h", "or 0"}},
		{"retention.audit: -1h", none, FlagValue{}, "FILE:1", []string{"out of range"}},
		{none, "ROTA_RETENTION_AUDIT=1s", FlagValue{}, "ROTA_RETENTION_AUDIT", []string{"1s is too short", "at least 1h"}},
		{"http: 7420", none, FlagValue{}, "FILE:1", []string{"not an address", "127.0.0.1:7420"}},
		{"http: http://127.0.0.1:7420", none, FlagValue{}, "FILE:1", []string{"is a URL", "HOST:PORT"}},
		{"http: 127.0.0.1:70000", none, FlagValue{}, "FILE:1", []string{"not a port"}},
		{"http: 'a b:1'", none, FlagValue{}, "FILE:1", []string{"not a host"}},
		{"http: '::1:7420'", none, FlagValue{}, "FILE:1", []string{"not an address"}},
		{"store: dynamodb://u:secret@host/db", none, FlagValue{}, "FILE:1", []string{"must not contain credentials", "AWS_PROFILE"}},
		{"store: postgres:u:secret@host/db", none, FlagValue{}, "FILE:1", []string{"two slashes"}},
		{"store: dynamodb:table", none, FlagValue{}, "FILE:1", []string{"no URL of a DynamoDB table", "dynamodb://TABLE?region="}},
		{"store: dynamodb://jobs/x", none, FlagValue{}, "FILE:1", []string{`"/x" after the table`}},
		{"store: dynamodb://jobs?pool=1s", none, FlagValue{}, "FILE:1", []string{`unknown parameter "pool"`, "poll"}},
		{"store: dynamodb://jobs?poll=1ms", none, FlagValue{}, "FILE:1", []string{`poll is "1ms"`, "allowed are"}},
		{"store: raft:data", none, FlagValue{}, "FILE:1", []string{"raft", "later release"}},
		{"store: mysql:x", none, FlagValue{}, "FILE:1", []string{`scheme "mysql"`, "sqlite:PATH"}},
		{"store: rota.db", none, FlagValue{}, "FILE:1", []string{"no scheme"}},
		{"store: 'sqlite:'", none, FlagValue{}, "FILE:1", []string{"names no file"}},
		{"store: sqlite://rota.db", none, FlagValue{}, "FILE:1", []string{"no slashes"}},
		{"lease: 30", none, FlagValue{}, "FILE:1", []string{"not a duration"}},
		{"lease: 1ms", none, FlagValue{}, "FILE:1", []string{"out of range", "1s to 1h"}},
		{"lease: 2h", none, FlagValue{}, "FILE:1", []string{"out of range"}},
		{"shutdown_grace: 0s", none, FlagValue{}, "FILE:1", []string{"out of range"}},
		{"cancel_grace: forever", none, FlagValue{}, "FILE:1", []string{"not a duration"}},
		{"log_level: loud", none, FlagValue{}, "FILE:1", []string{`unknown value "loud"`, "debug, info"}},
		{"log_format: xml", none, FlagValue{}, "FILE:1", []string{`unknown value "xml"`, "text or json"}},
		{"log_max: 10 elephants", none, FlagValue{}, "FILE:1", []string{"not a size"}},
		{"log_max: 1B", none, FlagValue{}, "FILE:1", []string{"1B is out of range"}},
		{"log_max: 99999999999GiB", none, FlagValue{}, "FILE:1", []string{"out of range"}},
		{"log_keep: 1s", none, FlagValue{}, "FILE:1", []string{"out of range"}},
		{"log_keep: 99999999999d", none, FlagValue{}, "FILE:1", []string{"not a duration"}},
		{"prune_every: 1ms", none, FlagValue{}, "FILE:1", []string{"out of range"}},
		{"audit_keys: 12ab", none, FlagValue{}, "FILE:1", []string{"audit_keys", "12ab", "64 hexadecimal digits"}},
		{"http_allow: 10.0.0.0/99", none, FlagValue{}, "FILE:1", []string{"http_allow", "10.0.0.0/99"}},
		{"webhook_workers: 0", none, FlagValue{}, "FILE:1", []string{"out of range", "1 to 1000"}},
		{"sentry_dsn: https://sentry.example.org/7", none, FlagValue{}, "FILE:1", []string{"sentry_dsn", "no key"}},
		{"otlp_endpoint: collector:4317", none, FlagValue{}, "FILE:1", []string{"not an http or https URL"}},
		{"otlp_endpoint: htp://ada:secret@collector/", none, FlagValue{}, "FILE:1", []string{"without a user and a password"}},
		{"otlp_endpoint: http://ada:secret@collector/", none, FlagValue{}, "FILE:1", []string{"without a user and a password"}},
		{`otlp_headers: "a=1,b=secret\r\nx: y"`, none, FlagValue{}, "FILE:1", []string{"the value of b has a line break"}},
		{"otlp_headers: secret", none, FlagValue{}, "FILE:1", []string{"NAME=VALUE"}},
		{"trace_sample: 2", none, FlagValue{}, "FILE:1", []string{"out of range"}},
		{"trace_sample: some", none, FlagValue{}, "FILE:1", []string{"not a number"}},
		{"environment: 'a\tb'", none, FlagValue{}, "FILE:1", []string{"not a word"}},
		{"http_rate: 100", none, FlagValue{}, "FILE:1", []string{"not a rate", "5000/1s"}},
		{"http_rate: 0/1s", none, FlagValue{}, "FILE:1", []string{"the count"}},
		{"http_rate: 5/1ms", none, FlagValue{}, "FILE:1", []string{"the time"}},
		{"name: 'a b'", none, FlagValue{}, "FILE:1", []string{`' '`}},
		{"name: " + strings.Repeat("x", 200), none, FlagValue{}, "FILE:1", []string{"at most 128"}},
		{"data: ''", none, FlagValue{}, "FILE:1", []string{"no value"}},
		{`data: "a\0b"`, none, FlagValue{}, "FILE:1", []string{"NUL"}},
		{"- workers", none, FlagValue{}, "FILE:1", []string{"not a list of settings"}},
		{"just text", none, FlagValue{}, "FILE:1", []string{"not a list of settings"}},
		{"workers: 1\n---\nworkers: 2", none, FlagValue{}, "FILE:3", []string{"second document"}},
		{"workers: \"1\n", none, FlagValue{}, "FILE:1", []string{"not valid YAML"}},
		{"workers: 1\n\tname: b", none, FlagValue{}, "FILE:2", []string{"not valid YAML"}},
		{"a: &x 1\nworkers: *x", none, FlagValue{}, "FILE:1", []string{"unknown setting"}},
		{"workers: &x 4", none, FlagValue{}, "FILE:1", []string{"not a scalar"}},
		{"? [a]\n: b", none, FlagValue{}, "FILE:2", []string{"not valid YAML"}},
		{"? workers\n: 4", none, FlagValue{}, "FILE:1", []string{"not the name"}},
		{none, "ROTA_WORKERS=many", FlagValue{}, "ROTA_WORKERS", []string{"not a whole number", "1 to 10000"}},
		{none, "ROTA_HTTP=nowhere", FlagValue{}, "ROTA_HTTP", []string{"not an address"}},
		{none, "ROTA_RETENTION_DEAD_AGE=x", FlagValue{}, "ROTA_RETENTION_DEAD_AGE", []string{"not a duration"}},
		{none, none, FlagValue{"workers", "0"}, "--workers", []string{"out of range"}},
		{none, none, FlagValue{"data", ""}, "--data", []string{"empty"}},
		{none, none, FlagValue{"shutdown_grace", "x"}, "--shutdown-grace", []string{"not a duration"}},
		{"workers: many", none, FlagValue{"workers", "1"}, "FILE:1", []string{"not a whole number"}}, // although a flag overrides it
	} {
		file := configFile(t, row.file)
		_, err := Load(file, variablesOf(row.env), row.flag)
		if row.flag == (FlagValue{}) {
			_, err = Load(file, variablesOf(row.env))
		}
		var refusal *rota.Error
		if !errors.As(err, &refusal) || refusal.Code != rota.Invalid {
			t.Errorf("%q %q %v: %v, want it refused", row.file, row.env, row.flag, err)
			continue
		}
		if where := strings.ReplaceAll(row.where, "FILE", file); refusal.Act != where {
			t.Errorf("%q %q %v: the error names the position %q, want %q (%v)", row.file, row.env, row.flag, refusal.Act, where, err)
		}
		for _, want := range row.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%q %q %v: %q does not contain %q", row.file, row.env, row.flag, err, want)
			}
		}
		if refusal.Hint == "" {
			t.Errorf("%q: %q has no hint", row.file, err)
		}
		if strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: the error repeats the password", row.file)
		}
	}
}

func TestConfigFileIsOptionalUnlessNamed(t *testing.T) {
	t.Chdir(t.TempDir())
	if _, err := Load("", noEnv); err != nil {
		t.Errorf("without a file: %v", err)
	}
	_, err := Load("named.yaml", noEnv)
	if rota.CodeOf(err) != rota.Invalid || !strings.Contains(err.Error(), "named.yaml") || strings.Count(err.Error(), "named.yaml") > 1 {
		t.Errorf("a named file that does not exist: %v", err)
	}
	if err := os.WriteFile(DefaultFile, []byte("workers: 5\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if c, err := Load("", noEnv); err != nil || c.Workers != 5 {
		t.Errorf("rota.yaml of the working directory: %d workers, %v", c.Workers, err)
	}
	if err := os.WriteFile("huge.yaml", []byte(strings.Repeat("# long\n", fileMax)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load("huge.yaml", noEnv); rota.CodeOf(err) != rota.Invalid {
		t.Errorf("a huge file: %v", err)
	}
	if _, err := Load(".", noEnv); rota.CodeOf(err) != rota.Invalid {
		t.Errorf("a directory: %v", err)
	}
}

func TestEmptyConfigFileSetsNothing(t *testing.T) {
	for _, text := range []string{"", "\n", "# only a comment\n", "---\n", "---\n# x\n...\n", "{}"} {
		if read, err := parseFile("x", []byte(text)); err != nil || len(read.lines) > 0 || len(read.targets) > 0 {
			t.Errorf("%q: %v, %v", text, read, err)
		}
	}
}

func TestMisspelledVariablesAreReported(t *testing.T) {
	got := MisspelledVariables([]string{
		"ROTA_WORKERS=1", "ROTA_WROKERS=2", "ROTA_URL=x", "ROTA_TOKEN=y", "PATH=z", "ROTA_SERVICE_PORT_7420_TCP_PROTO=tcp", "ROTA_LOGLEVEL=debug",
	})
	want := []string{"ROTA_WROKERS (did you mean ROTA_WORKERS?)", "ROTA_LOGLEVEL (did you mean ROTA_LOG_LEVEL?)"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestOpenValidatesConfigOfProgram: Open checks a Config that Load did not produce.
func TestOpenValidatesConfigOfProgram(t *testing.T) {
	for _, row := range []struct {
		config Config
		field  string
	}{
		{Config{Workers: -1}, "workers"},
		{Config{HTTP: "x"}, "http"},
		{Config{Store: "dynamodb://x"}, "store"}, // a name has three letters
		{Config{Lease: time.Millisecond}, "lease"},
		{Config{Targets: map[string]action.Target{"x": {URL: "oracle:x"}}}, "targets.x.url"},
		{Config{LogFormat: "xml"}, "log_format"},
		{Config{HTTPRate: rota.Rate{Count: 1}}, "http_rate"},
		{Config{Retention: &rota.Retention{Dead: rota.Keep{Count: -1}}}, "retention.dead.count"},
	} {
		row.config.Data = t.TempDir()
		_, err := Open(t.Context(), row.config)
		var refusal *rota.Error
		if !errors.As(err, &refusal) || refusal.Code != rota.Invalid || refusal.Field != row.field {
			t.Errorf("%s: %v", row.field, err)
		}
	}
}

// TestSettingBoundsEqualStoreBounds: the store accepts every retention that the
// configuration accepts; otherwise each prune would fail.
func TestSettingBoundsEqualStoreBounds(t *testing.T) {
	longest := rota.Keep{Age: keepMax, Count: countMax}
	config := Config{Retention: &rota.Retention{Completed: longest, Skipped: longest, Cancelled: longest, Dead: longest}}
	query := rota.PruneQuery{Retention: *config.Retention}
	if err := config.withDefaults().validate(); err != nil {
		t.Error(err)
	}
	if err := query.Validate(); err != nil {
		t.Error(err)
	}
}

func TestLoggerFollowsLevelAndFormat(t *testing.T) {
	var b strings.Builder
	log := Config{LogLevel: slog.LevelWarn, LogFormat: "json"}.NewLogger(&b)
	log.Info("quiet")
	log.Warn("loud")
	if text := b.String(); strings.Contains(text, "quiet") || !strings.Contains(text, `"msg":"loud"`) {
		t.Errorf("%s", text)
	}
}

func FuzzParseFile(f *testing.F) {
	for _, text := range []string{
		"workers: 16\nhttp: 127.0.0.1:0\n", "retention:\n  dead: {age: 7d, count: 4}\n", "a: &x [1, *x]\n<<: *x", "--- |\n  x\n...\n", "? a\n: b",
		"targets: {a: {url: 'sqlite:a.db', roles: {x: y}, timeout: 3s}}", "targets:\n  main:\n    url: 3", "workers: !!int '4'", "\"\\x00\": 1", "workers: 1 # one", "%YAML 1.2\n---\nname: x",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		read, err := parseFile("f", []byte(text))
		if err != nil {
			if rota.CodeOf(err) != rota.Invalid {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		var c Config
		if err := c.setTargets(read.targets, noEnv); err != nil && rota.CodeOf(err) != rota.Invalid {
			t.Fatalf("%q: %v", text, err)
		}
		for _, l := range read.lines {
			if _, known := settingOf(l.key); !known || l.number < 1 {
				t.Fatalf("%q: %+v", text, l)
			}
			if err := c.set(l.key, l.text, l.position(), l.key); err != nil && rota.CodeOf(err) != rota.Invalid {
				t.Fatalf("%q: %v", text, err)
			}
		}
		if err := c.withDefaults().validate(); err != nil && rota.CodeOf(err) != rota.Invalid {
			t.Fatal(err)
		}
	})
}

func TestRetentionOfAuditIsAnHourOrMoreOrUnlimited(t *testing.T) {
	for text, want := range map[string]time.Duration{"0": 0, "1h": time.Hour, "365d": 365 * day} {
		c, err := Load(configFile(t, "retention.audit: "+text), noEnv)
		if err != nil || c.Retention.Audit != want {
			t.Errorf("%s: %v, %v", text, c.Retention, err)
		}
	}
}
