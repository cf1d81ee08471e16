package action

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
	vaults "github.com/rotajobs/rota/secret"
	"github.com/rotajobs/rota/store/postgres/pgtest"
	"github.com/rotajobs/rota/store/sqlite"
)

func TestSecretsStandForUserAndPasswordOnly(t *testing.T) {
	for url, reason := range map[string]string{
		"postgres://app:${secret:DB_PASSWORD}@db/warehouse":               "",
		"postgres://${secret:DB_USER}:${secret:DB_PASSWORD}@db/warehouse": "",
		"postgres://db/warehouse?user=app&password=${secret:DB_PASSWORD}": "",
		"mysql://app:${secret:DB_PASSWORD}@db:3306/shop":                  "",
		"postgres://app@${secret:DB_HOST}/warehouse":                      "only its user and its password",
		"postgres://app@db/${secret:DB}":                                  "only its user and its password",
		"postgres://app@db/warehouse?options=${secret:OPTIONS}":           "only its user and its password",
		"mysql://app@db/${secret:DB}":                                     "only its user and its password",
		"sqlite:${secret:PATH}":                                           "has no login",
		"${secret:URL}":                                                   "only its user and its password",
		"postgres://app:${secret:9}@db/warehouse":                         "a reference to a secret is",
		"postgres://app:${secret:A-B}@db/warehouse":                       "a reference to a secret is",
		"postgres://app:${DB_PASSWORD}@db/warehouse":                      "a reference to a secret is",
		"postgres://app:${secret:DB_PASSWORD@db/warehouse":                "a reference to a secret is",
	} {
		err := CheckTarget("t", Target{URL: url})
		switch {
		case reason == "" && err != nil, reason != "" && (err == nil || !strings.Contains(err.Error(), reason)):
			t.Errorf("%s: %v", url, err)
		case err != nil && strings.Contains(err.Error(), placeholder):
			t.Errorf("%s: the error shows the placeholder: %v", url, err)
		}
	}
}

// secretEnv is a testEnv whose handlers get secrets.
type secretEnv struct {
	*testEnv
	vault *vaults.Vault
}

// newSecretEnv starts an engine with the target "t".
func newSecretEnv(t *testing.T, target Target) *secretEnv {
	t.Helper()
	if err := CheckTarget("t", target); err != nil {
		t.Fatal(err)
	}
	store, err := sqlite.Open(filepath.Join(t.TempDir(), "rota.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	ring, err := vaults.Load(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	w := &secretEnv{&testEnv{T: t, store: store, client: rota.New(store), log: &logBuffer{}}, &vaults.Vault{Keyring: ring, Store: store}}
	reg := engine.NewRegistry()
	Register(reg, Config{Targets: map[string]Target{"t": target}})
	w.run(reg, engine.Config{Workers: 4, Secrets: w.vault})
	return w
}

func (w *secretEnv) template(name, statement string, secrets map[string]string) {
	w.Helper()
	params, err := json.Marshal(SQL{Statement: statement, Target: "t"})
	if err != nil {
		w.Fatal(err)
	}
	c := &rota.PutTemplate{Meta: rota.NewMeta("ada"), Name: name, Spec: rota.TemplateSpec{Type: "sql", Params: params, Policy: rota.PolicyPatch{MaxRetries: new(0)}}}
	if _, err := rota.Do[*rota.TemplatePut](context.Background(), w.store, c); err != nil {
		w.Fatal(err)
	}
	for key, value := range secrets {
		w.secret(name, key, value)
	}
}

func (w *secretEnv) secret(template, key, value string) {
	w.Helper()
	sealed, err := w.vault.SealFor(context.Background(), template, key, []byte(value))
	if err != nil {
		w.Fatal(err)
	}
	c := &rota.PutSecret{Meta: rota.NewMeta("ada"), Template: template, Key: key, Sealed: sealed}
	if _, err := rota.Do[*rota.SecretPut](context.Background(), w.store, c); err != nil {
		w.Fatal(err)
	}
}

func (w *secretEnv) of(template string) rota.NewJob { return rota.NewJob{Template: template} }

func (w *secretEnv) wantNotShown(done *rota.Job, values ...string) {
	w.Helper()
	text, err := json.Marshal(done)
	if err != nil {
		w.Fatal(err)
	}
	for _, value := range values {
		if strings.Contains(string(text)+done.Run.Error+w.log.String(), value) {
			w.Errorf("the job or the log contains %q: %s", value, text)
		}
	}
}

// newPasswordServer starts a PostgreSQL server where the roles of the group by_password need their passwords.
func newPasswordServer(t *testing.T) (server *pgtest.Cluster, database string) {
	t.Helper()
	server, err := pgtest.Start("", pgtest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	database = server.NewDatabase(t, "")
	url := server.URL(database)
	pgtest.Query(t, url, "CREATE ROLE by_password")
	file := pgtest.Query(t, url, "SHOW hba_file")[0][0]
	pgtest.Query(t, url, `COPY (VALUES ('host all +by_password 127.0.0.1/32 scram-sha-256'), ('host all all 127.0.0.1/32 trust'), ('local all all trust')) TO '`+file+`'`)
	pgtest.Query(t, url, "SELECT pg_reload_conf()")
	return server, database
}

// TestPostgresLoginTakesPasswordFromSecrets: the jobs of each template log in with its secrets, jobs without them do not, and a
// new value counts at once.
func TestPostgresLoginTakesPasswordFromSecrets(t *testing.T) {
	const passwordA, passwordB = "Sw0rd/fi:sh@ 42%+é!", "another-Sw0rd?#&"
	server, database := newPasswordServer(t)
	own := server.URL(database)
	for role, password := range map[string]string{"alice": passwordA, "robert": passwordB} {
		pgtest.Query(t, own, `CREATE ROLE `+role+` LOGIN PASSWORD '`+password+`' IN ROLE by_password; GRANT ALL ON SCHEMA public TO `+role)
	}
	pgtest.Query(t, own, `CREATE SCHEMA alice AUTHORIZATION alice; CREATE SCHEMA robert AUTHORIZATION robert`) // each has a table of effects
	waitFor(t, "passwords are needed", func() bool {
		w := newSecretEnv(t, Target{URL: "postgres://alice:wrong@" + server.Addr() + "/" + database + "?sslmode=disable"})
		w.template("x", "SELECT 1", nil)
		return w.waitEnded(w.enqueue(w.of("x"))).Run.ErrorCode == "28P01"
	})
	w := newSecretEnv(t, Target{URL: "postgres://${secret:DB_USER}:${secret:DB_PASSWORD}@" + server.Addr() + "/" + database + "?sslmode=disable"})
	const query = "SELECT session_user"
	w.template("shop", query, map[string]string{"DB_USER": "alice", "DB_PASSWORD": passwordA})
	w.template("store", query, map[string]string{"DB_USER": "robert", "DB_PASSWORD": passwordB})
	w.template("none", query, map[string]string{"DB_USER": "alice"})
	user := func(done *rota.Job) string { return result[Rows](w.testEnv, done).Rows[0][0].(string) }
	want := map[rota.ID]string{}
	for range 10 {
		want[w.enqueue(w.of("shop"))] = "alice"
		want[w.enqueue(w.of("store"))] = "robert"
	}
	for id, name := range want {
		done := w.waitEnded(id)
		if done.Run.Outcome != rota.OutcomeCompleted {
			t.Fatalf("%s: %s", done.Template, done.Run.Error)
		}
		// A name that is a secret is masked in the result.
		if got := user(done); got == name || strings.Contains(got, "alice") || strings.Contains(got, "robert") {
			t.Errorf("the result shows a secret: %s", got)
		}
		w.wantNotShown(done, passwordA, passwordB)
	}
	if rows := pgtest.Query(t, own, "SELECT (SELECT count(*) FROM alice.rota_effects), (SELECT count(*) FROM robert.rota_effects)"); rows[0][0] != "10" || rows[0][1] != "10" {
		t.Errorf("the logins have run %v jobs", rows[0])
	}
	done := w.mustFail(w.of("none"), codeTarget, "DB_PASSWORD")
	w.wantNotShown(done, passwordA)
	w.mustFail(statement("SELECT 1"), codeTarget, "no template")

	w.secret("shop", "DB_PASSWORD", "Wr0ng-fish/42")
	done = w.mustFail(w.of("shop"), "28P01", "the server refused the login")
	w.wantNotShown(done, "Wr0ng-fish", passwordA)
	w.secret("shop", "DB_PASSWORD", passwordA)
	w.mustComplete(w.of("shop"))
}

func TestMariaDBLoginTakesPasswordFromSecrets(t *testing.T) {
	const password = "Sw0rd/fi:sh@ 42%+!"
	g := newMariaTarget(t)
	database := g.queryValue(t, "SELECT DATABASE()")
	g.query(t, "CREATE OR REPLACE USER keeper@localhost IDENTIFIED BY '"+password+"'")
	t.Cleanup(func() { g.query(t, "DROP USER keeper@localhost") })
	g.query(t, "GRANT ALL ON "+database+".* TO keeper@localhost")
	w := newSecretEnv(t, Target{URL: strings.Replace(g.target.URL, "root@", "keeper:${secret:DB_PASSWORD}@", 1)})
	w.template("shop", "SELECT CURRENT_USER()", map[string]string{"DB_PASSWORD": password})
	w.template("none", "SELECT CURRENT_USER()", nil)
	done := w.mustComplete(w.of("shop"))
	if rows := result[Rows](w.testEnv, done); rows.Rows[0][0] != "keeper@localhost" {
		t.Errorf("%v", rows.Rows)
	}
	w.wantNotShown(done, password)
	w.mustFail(w.of("none"), codeTarget, "DB_PASSWORD")
	w.secret("shop", "DB_PASSWORD", "Wr0ng-fish/42")
	w.wantNotShown(w.mustFail(w.of("shop"), "28000"), "Wr0ng-fish")
}
