package node

import (
	"cmp"
	"math"
	"strings"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/cron"
)

// Setting is one configuration value, set by a flag, an environment variable or a
// line of the file.
type Setting struct {
	Key     string // key in the file; a dot separates levels
	About   string // what it sets
	Allowed string // allowed values, for the hint of an error

	field func(*Config) kind
}

// Settings lists all settings in the order of the documentation.
func Settings() []Setting { return append([]Setting(nil), settings...) }

// Limits of the settings.
const (
	workersMax  = 10_000
	graceMin    = 10 * time.Millisecond
	graceMax    = 24 * time.Hour
	logMaxMin   = 1 << 10
	logMaxMax   = 100 << 30
	logKeepMin  = time.Hour
	keepMax     = cron.EveryMax // the longest age that a store accepts
	pruneMin    = time.Second
	pruneMax    = 7 * day
	countMax    = 1<<31 - 1
	rateMax     = 1_000_000
	ratePeriods = time.Hour
)

var settings = append([]Setting{
	newSetting("data", "directory of all files of the server", "a directory, such as ./rota-data",
		func(c *Config) kind { return textKind(&c.Data, "DIR", checkPath) }),
	newSetting("store", "URL of the store: sqlite:PATH, or one that several servers can share: postgres://USER@HOST:5432/DATABASE or dynamodb://TABLE?region=REGION", "sqlite:PATH, postgres://USER@HOST:5432/DATABASE or dynamodb://TABLE?region=REGION",
		func(c *Config) kind { return textKind(&c.Store, "URL", checkStore) }),
	newSetting("http", "address of the HTTP API; port 0 picks a free port", "HOST:PORT, such as 127.0.0.1:7420",
		func(c *Config) kind { return textKind(&c.HTTP, "ADDR", checkAddress) }),
	newSetting("sql", "address of the SQL port, for psql and other PostgreSQL clients; port 0 picks a free port, none disables it", "HOST:PORT, such as 127.0.0.1:7432, or none",
		func(c *Config) kind { return textKind(&c.SQL, "ADDR", checkPort) }),
	newSetting("insecure", "whether other machines may reach a port that has no TLS", "true or false",
		func(c *Config) kind { return boolKind(&c.Insecure) }),
	newSetting("http_cert", "file of the TLS certificate of the HTTP API; it is read again when it changes", "a PEM file, such as server.crt",
		func(c *Config) kind { return optionalKind(&c.HTTPCert, "FILE", checkFile) }),
	newSetting("http_key", "file of the private key of that certificate", "a PEM file, such as server.key",
		func(c *Config) kind { return optionalKind(&c.HTTPKey, "FILE", checkFile) }),
	newSetting("http_client_ca", "file with the authorities whose client certificates are accepted by the HTTP API", "a PEM file, such as clients.crt",
		func(c *Config) kind { return optionalKind(&c.HTTPClientCA, "FILE", checkFile) }),
	newSetting("http_client_cert", "whether clients of the HTTP API may or must have a certificate", "allow or require",
		func(c *Config) kind { return wordKind(&c.HTTPClientCert, allow, require) }),
	newSetting("sql_cert", "file of the TLS certificate of the SQL port; it is read again when it changes", "a PEM file, such as server.crt",
		func(c *Config) kind { return optionalKind(&c.SQLCert, "FILE", checkFile) }),
	newSetting("sql_key", "file of the private key of that certificate", "a PEM file, such as server.key",
		func(c *Config) kind { return optionalKind(&c.SQLKey, "FILE", checkFile) }),
	newSetting("sql_tls", "whether clients of the SQL port may or must use TLS; if other machines can reach it, they must, unless insecure is set", "allow or require",
		func(c *Config) kind { return wordKind(&c.SQLTLS, allow, require) }),
	newSetting("sql_client_ca", "file with the authorities whose client certificates are accepted by the SQL port", "a PEM file, such as clients.crt",
		func(c *Config) kind { return optionalKind(&c.SQLClientCA, "FILE", checkFile) }),
	newSetting("sql_client_cert", "whether clients of the SQL port may or must have a certificate", "allow or require",
		func(c *Config) kind { return wordKind(&c.SQLClientCert, allow, require) }),
	newSetting("workers", "number of jobs that run at the same time", "a whole number from 1 to 10000, such as 16",
		func(c *Config) kind { return wholeKind(&c.Workers, 1, workersMax) }),
	newSetting("name", "name of this worker, the same at every start", "letters, digits and . _ - : / @ #, such as local",
		func(c *Config) kind { return textKind(&c.Name, "NAME", checkName) }),
	newSetting("lease", "how long a worker keeps a run without a heartbeat", "a duration from 1s to 1h, such as 30s",
		func(c *Config) kind { return durationKind(&c.Lease, rota.LeaseMin, rota.LeaseMax) }),
	newSetting("cancel_grace", "how long a handler may take to stop after its job is cancelled or times out; then the server ends the run", "a duration from 10ms to 24h, such as 10s",
		func(c *Config) kind { return durationKind(&c.CancelGrace, graceMin, graceMax) }),
	newSetting("shutdown_grace", "how long running jobs may continue after the server is asked to stop", "a duration from 10ms to 24h, such as 30s",
		func(c *Config) kind { return durationKind(&c.ShutdownGrace, graceMin, graceMax) }),
	newSetting("memory_limit", "memory, without that of SQLite, that the server tries to stay below by collecting garbage more often; GOMEMLIMIT overrides it", "auto (half of the memory of the machine or its control group, at most 512MiB), or a size from 64MiB, such as 1GiB",
		func(c *Config) kind { return memoryKind(&c.MemoryLimit) }),
	newSetting("log_level", "lowest level that the server logs", "debug, info, warn or error",
		func(c *Config) kind { return levelKind(&c.LogLevel) }),
	newSetting("log_format", "format of the server's log", "text or json",
		func(c *Config) kind { return wordKind(&c.LogFormat, "text", "json") }),
	newSetting("log_max", "largest size of the log of one run", "a size from 1KiB to 100GiB, such as 10MiB",
		func(c *Config) kind { return sizeKind(&c.LogMax, logMaxMin, logMaxMax) }),
	newSetting("log_keep", "how long run logs are kept", "a duration of at least 1h, such as 30d",
		func(c *Config) kind { return durationKind(&c.LogKeep, logKeepMin, keepMax) }),
	newSetting("prune_every", "how often executions past their retention are removed", "a duration from 1s to 7d, such as 1h",
		func(c *Config) kind { return durationKind(&c.PruneEvery, pruneMin, pruneMax) }),
	newSetting("http_rate", "limit of HTTP requests per time, of all clients together", "none, or COUNT/TIME such as 5000/1s",
		func(c *Config) kind { return rateKind(&c.HTTPRate) }),
	newSetting("user_rate", "limit of HTTP requests and SQL statements per time, of each user", "none, or COUNT/TIME such as 100/1s",
		func(c *Config) kind { return rateKind(&c.UserRate) }),
	newSetting("http_hosts", "host names, besides localhost and IP addresses of the server, that requests may use; without names only connections to a loopback address are checked", "none, or a list of names without a port, such as rota.example.org, rota",
		func(c *Config) kind { return optionalKind(&c.HTTPHosts, "LIST", checkHosts) }),
	newSetting("http_allow", "addresses outside the public internet that http jobs and webhooks may use", "none, or a list such as 10.0.0.0/8, intranet.example.org, loopback",
		func(c *Config) kind { return optionalKind(&c.HTTPAllow, "LIST", checkAllow) }),
	newSetting("audit_keys", "public keys of the other servers that share the store: this server believes what they sign of the audit", "none, or a list of keys of 64 hexadecimal digits, as rota audit verify prints them",
		func(c *Config) kind { return optionalKind(&c.AuditKeys, "LIST", checkAuditKeys) }),
	newSetting("webhook_workers", "number of webhooks delivered at the same time", "a whole number from 1 to 1000, such as 16",
		func(c *Config) kind { return wholeKind(&c.WebhookWorkers, 1, 1_000) }),
	newSetting("sentry_dsn", "Sentry project that receives error reports", "none, or the DSN of a project, such as https://KEY@sentry.example.org/7",
		func(c *Config) kind { return secretKind(&c.SentryDSN, "DSN", checkDSN) }),
	newSetting("environment", "environment that error reports and traces name", "a word, such as production",
		func(c *Config) kind { return optionalKind(&c.Environment, "TEXT", checkWord) }),
	newSetting("otlp_endpoint", "URL that receives traces, as OpenTelemetry over HTTP", "none, or a URL such as http://127.0.0.1:4318",
		func(c *Config) kind { return optionalKind(&c.OTLPEndpoint, "URL", checkURL) }),
	newSetting("otlp_headers", "headers of the requests that send traces", "none, or a list such as api-key=SECRET,tenant=7",
		func(c *Config) kind { return secretKind(&c.OTLPHeaders, "LIST", checkHeaders) }),
	newSetting("trace_sample", "fraction of the traces started by this server that is sent", "a number above 0 and up to 1, such as 0.1",
		func(c *Config) kind { return fractionKind(&c.TraceSample, math.SmallestNonzeroFloat64, 1) }),
}, retentionSettings()...)

func newSetting(key, about, allowed string, field func(*Config) kind) Setting {
	return Setting{Key: key, About: about, Allowed: allowed, field: field}
}

// retentionSettings are the settings of the section retention: an age and a count for each outcome, and an age for
// the audit.
func retentionSettings() (all []Setting) {
	for _, r := range []struct {
		outcome string
		keep    func(*rota.Retention) *rota.Keep
	}{
		{"completed", func(r *rota.Retention) *rota.Keep { return &r.Completed }},
		{"skipped", func(r *rota.Retention) *rota.Keep { return &r.Skipped }},
		{"cancelled", func(r *rota.Retention) *rota.Keep { return &r.Cancelled }},
		{"dead", func(r *rota.Retention) *rota.Keep { return &r.Dead }},
	} {
		key, ended := "retention."+r.outcome, "executions that ended "+r.outcome+" are kept; 0: no limit"
		all = append(all,
			newSetting(key+".age", "how long "+ended, "a duration, such as 30d, or 0",
				func(c *Config) kind { return durationKind(&r.keep(c.retention()).Age, 0, keepMax) }),
			newSetting(key+".count", "how many "+ended, "a whole number, such as 100000, or 0",
				func(c *Config) kind { return wholeKind(&r.keep(c.retention()).Count, 0, countMax) }))
	}
	return append(all, newSetting("retention.audit", "how long audit entries are kept; 0: no limit", "a duration of at least 1h, such as 365d, or 0 for no limit",
		func(c *Config) kind { return auditKind(&c.retention().Audit) }))
}

// retention returns the retention for a setting to change; the first call creates it.
func (c *Config) retention() *rota.Retention {
	c.Retention = cmp.Or(c.Retention, new(rota.DefaultRetention))
	return c.Retention
}

// Variable is the environment variable of a setting.
func (s Setting) Variable() string {
	return "ROTA_" + strings.ToUpper(strings.ReplaceAll(s.Key, ".", "_"))
}

// Flag is the flag of a setting, without its dashes. Settings in sections of the file
// have none.
func (s Setting) Flag() string {
	if strings.Contains(s.Key, ".") {
		return ""
	}
	return strings.ReplaceAll(s.Key, "_", "-")
}

// Noun is the placeholder for the value in help texts.
func (s Setting) Noun() string { return s.field(&Config{}).noun() }

// IsSwitch reports whether the setting is true or false.
func (s Setting) IsSwitch() bool {
	_, is := s.field(&Config{}).(kindOf[bool])
	return is
}

// Default is the default value, as a user would write it.
func (s Setting) Default() string {
	c := Config{}.withDefaults()
	return s.field(&c).String()
}

func (s Setting) remedy() string { return "write " + s.Allowed }

func settingOf(key string) (Setting, bool) {
	for _, s := range settings {
		if s.Key == key {
			return s, true
		}
	}
	return Setting{}, false
}
