package action

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/access"
	"github.com/rotajobs/rota/engine"
)

// usersEnv is a testEnv with users.
type usersEnv struct {
	*testEnv
	directory *access.Directory
	faults    *faultyStore
}

// faultyStore is the store of the users. It is unavailable for some commands and reads while a switch is on.
type faultyStore struct {
	rota.Store
	noReads, noRecords atomic.Int32 // how many are refused
}

func (s *faultyStore) AccessState(ctx context.Context) (rota.AccessState, error) {
	if s.noReads.Add(-1) >= 0 {
		return rota.AccessState{}, &rota.Error{Code: rota.Unavailable, Reason: "the disk is gone"}
	}
	return s.Store.AccessState(ctx)
}

func (s *faultyStore) Apply(ctx context.Context, b rota.Batch) ([]rota.Result, error) {
	if _, records := b.Commands[0].(*rota.RecordAccess); records && s.noRecords.Add(-1) >= 0 {
		return nil, &rota.Error{Code: rota.Unavailable, Reason: "the disk is full"}
	}
	return s.Store.Apply(ctx, b)
}

// newUsersEnv starts an engine with the target "t" whose jobs run with the rights of users.
func newUsersEnv(t *testing.T, target Target) *usersEnv {
	t.Helper()
	if err := CheckTarget("t", target); err != nil {
		t.Fatal(err)
	}
	w := &usersEnv{}
	w.testEnv = newTestEnv(t, func(reg *engine.Registry, store rota.Store) {
		w.faults = &faultyStore{Store: store}
		w.directory = access.NewDirectory(w.faults, nil)
		t.Cleanup(w.directory.Close)
		Register(reg, Config{Targets: map[string]Target{"t": target}, Access: w.directory})
	})
	return w
}

func (w *usersEnv) must(c rota.Command) rota.Reply {
	w.Helper()
	reply, err := rota.Do[rota.Reply](context.Background(), w.store, c)
	if err != nil {
		w.Fatalf("%s: %v", c.Verb(), err)
	}
	w.directory.Invalidate()
	return reply
}

// principal creates a user or a role that is a member of roles.
func (w *usersEnv) principal(kind rota.PrincipalKind, name string, roles ...string) {
	w.Helper()
	w.must(&rota.PutPrincipal{Meta: rota.NewMeta("admin"), Name: name, Kind: kind, Mode: rota.PutCreate})
	for _, role := range roles {
		w.must(&rota.GrantPrivileges{Meta: rota.NewMeta("admin"), To: []string{name}, Role: role})
	}
}

// start enqueues a job of a user. A held one waits until it is released.
func (w *usersEnv) start(user string, p SQL, held bool) rota.ID {
	w.Helper()
	p.Target = "t"
	one := job(p)
	if held {
		one.RunAt = time.Now().Add(24 * time.Hour)
	}
	reply := w.must(&rota.Enqueue{Meta: rota.NewMeta(user), Jobs: []rota.NewJob{one}}).(*rota.Enqueued)
	return reply.Jobs[0].Job.ID
}

func (w *usersEnv) release(id rota.ID) *rota.Job {
	w.Helper()
	if _, err := w.client.RunNow(context.Background(), id); err != nil {
		w.Fatal(err)
	}
	return w.waitEnded(id)
}

// checkFailed requires that a job has failed for good, with a code and texts in its error.
func (w *usersEnv) checkFailed(j *rota.Job, code string, texts ...string) {
	w.Helper()
	if j.Run.Outcome != rota.OutcomeFailed || j.Run.ErrorCode != code {
		w.Errorf("%s: %s: %s (%s), want %s", j.Params, j.Run.Outcome, j.Run.Error, j.Run.ErrorCode, code)
	}
	for _, text := range texts {
		if !strings.Contains(j.Run.Error, text) {
			w.Errorf("%s: the error does not contain %q: %s", j.Params, text, j.Run.Error)
		}
	}
}

// audit returns the entries of an act.
func (w *usersEnv) audit(act string) []rota.AuditEntry {
	w.Helper()
	page, err := w.store.Audit(context.Background(), rota.AuditQuery{Acts: []string{act}})
	if err != nil {
		w.Fatal(err)
	}
	return page.Entries
}

// databaseLogins creates logins of a PostgreSQL server that are dropped with the test, and returns their names and URLs.
func databaseLogins(t *testing.T, g *testTarget, names ...string) (login map[string]string, urls map[string]string) {
	t.Helper()
	login, urls = map[string]string{}, map[string]string{}
	suffix := g.queryValue(t, "SELECT current_database()")
	for _, name := range names {
		login[name] = name + "_" + suffix
		urls[name] = withUser(t, g.target.URL, login[name])
		g.query(t, "CREATE ROLE "+login[name]+" LOGIN SUPERUSER")
		t.Cleanup(func() {
			g.query(t, "REASSIGN OWNED BY "+login[name]+" TO CURRENT_USER; DROP OWNED BY "+login[name]+"; DROP ROLE "+login[name])
		})
	}
	return login, urls
}

// TestTargetLoginIsForAdministrators runs the jobs of many users and reads which login each of them got.
func TestTargetLoginIsForAdministrators(t *testing.T) {
	g := newPostgresTarget(t)
	login, urls := databaseLogins(t, g, "own", "ada", "etl", "batch")
	reporter := login["batch"] // a role of Rota that has no login in the target, and exists in the database
	w := newUsersEnv(t, Target{
		URL: urls["own"], OpenTo: []string{"frank", "ops"},
		Roles: map[string]string{"ada": urls["ada"], "etl": urls["etl"], "batch": urls["batch"]},
	})
	for _, role := range []string{"etl", "batch", "ops", reporter} {
		w.principal(rota.KindRole, role)
	}
	w.principal(rota.KindRole, "loaders", "etl") // members of loaders are members of etl
	w.principal(rota.KindUser, "root")
	w.must(&rota.GrantPrivileges{Meta: rota.NewMeta("admin"), To: []string{"root"}, Privileges: []rota.Privilege{rota.Admin}})
	w.principal(rota.KindUser, "ada", "etl", "batch")
	w.principal(rota.KindUser, "bob", "etl", reporter)
	w.principal(rota.KindUser, "nested", "loaders")
	w.principal(rota.KindUser, "carol", "batch", "etl")
	w.principal(rota.KindUser, "frank", "etl", reporter)
	w.principal(rota.KindUser, "gina", "ops")
	w.principal(rota.KindUser, "nobody")

	for _, row := range []struct {
		user, runAs string
		want        string // session_user and current_user
		code        string
		says        []string
	}{
		{user: "admin", want: "own own"},
		{user: "root", want: "own own"},
		{user: "ada", want: "ada ada"},
		{user: "bob", want: "etl etl"},
		{user: "nested", want: "etl etl"},
		{user: "carol", code: codeDenied, says: []string{"target t", "user carol", "batch, etl", "RUN AS"}},
		{user: "frank", want: "own own"},
		{user: "gina", want: "own own"},
		{user: "nobody", code: codeDenied, says: []string{"target t", "user nobody", "add a login for nobody to roles", "open_to"}},

		{user: "carol", runAs: "batch", want: "batch batch"},
		{user: "ada", runAs: "ada", want: "ada ada"},
		{user: "nobody", runAs: "etl", code: codeRole, says: []string{"user nobody is not a member of role etl", "GRANT etl TO nobody"}},
		{user: "gina", runAs: "etl", code: codeRole, says: []string{"GRANT etl TO gina"}},
		{user: "nobody", runAs: "unknown", code: codeRole, says: []string{"GRANT unknown TO nobody"}},
		{user: "admin", runAs: "etl", want: "etl etl"},
		{user: "admin", runAs: reporter, want: "own batch"},
		{user: "frank", runAs: reporter, want: "own batch"},
		{user: "bob", runAs: reporter, code: codeDenied, says: []string{"role " + reporter + " has no login", "user bob", "add a login for " + reporter, "open_to"}},
	} {
		j := w.waitEnded(w.start(row.user, SQL{Statement: "SELECT session_user, current_user", RunAs: row.runAs}, false))
		if row.code != "" {
			w.checkFailed(j, row.code, row.says...)
			continue
		}
		if j.Run.Outcome != rota.OutcomeCompleted {
			t.Errorf("%s as %q: %s", row.user, row.runAs, j.Run.Error)
			continue
		}
		session, current, _ := strings.Cut(row.want, " ")
		got := result[Rows](w.testEnv, j).Rows[0]
		if got[0] != login[session] || got[1] != login[current] {
			t.Errorf("%s as %q ran as %v, want %s", row.user, row.runAs, got, row.want)
		}
	}
}

// TestSQLiteFileIsForAdministrators runs jobs of users on a target without logins.
func TestSQLiteFileIsForAdministrators(t *testing.T) {
	g := newSQLiteTarget(t)
	g.target.OpenTo = []string{"frank", "ops"}
	w := newUsersEnv(t, g.target)
	w.principal(rota.KindRole, "ops")
	w.principal(rota.KindUser, "frank")
	w.principal(rota.KindUser, "gina", "ops")
	w.principal(rota.KindUser, "nobody")
	for user, may := range map[string]bool{"admin": true, "frank": true, "gina": true, "nobody": false} {
		j := w.waitEnded(w.start(user, SQL{Statement: "SELECT 1"}, false))
		if may && j.Run.Outcome != rota.OutcomeCompleted {
			t.Errorf("%s: %s", user, j.Run.Error)
		}
		if !may {
			w.checkFailed(j, codeDenied, "user "+user, "open_to")
			if strings.Contains(j.Run.Error, "roles of the target") {
				t.Errorf("a SQLite file has no logins to add: %s", j.Run.Error)
			}
		}
	}
	w.checkFailed(w.waitEnded(w.start("gina", SQL{Statement: "SELECT 1", RunAs: "ops"}, false)), codeRole, "a SQLite file has no roles")
	w.checkFailed(w.waitEnded(w.start("frank", SQL{Statement: "SELECT 1", RunAs: "ops"}, false)), codeRole, "GRANT ops TO frank")
	w.checkFailed(w.waitEnded(w.enqueueAs("nobody", job(SQL{Statement: "SELECT 1"}))), codeDenied, "target main", "user nobody")
}

// TestRunAsIsAudited reads the entries of runs as a role, which name the job and the run.
func TestRunAsIsAudited(t *testing.T) {
	g := newPostgresTarget(t)
	_, urls := databaseLogins(t, g, "etl")
	w := newUsersEnv(t, Target{URL: g.target.URL, Roles: map[string]string{"etl": urls["etl"]}})
	w.principal(rota.KindRole, "etl")
	w.principal(rota.KindUser, "ada", "etl")
	as := SQL{Statement: "SELECT 1", RunAs: "etl"}
	before := w.start("ada", as, true)
	revoked := w.start("ada", as, true)

	done := w.release(before)
	entries := w.audit(rota.AuditRunAs)
	if done.Run.Outcome != rota.OutcomeCompleted || len(entries) != 1 {
		t.Fatalf("%s: %s; %d entries", done.Run.Outcome, done.Run.Error, len(entries))
	}
	if e := entries[0]; e.Actor != "ada" || e.JobID != done.ID || e.ExecutionID != done.ExecutionID || e.RunID != done.Run.ID || !strings.Contains(e.Detail, "etl") {
		t.Errorf("the entry is %+v, of job %v and run %v", e, done.ID, done.Run.ID)
	}

	w.must(&rota.GrantPrivileges{Meta: rota.NewMeta("admin"), To: []string{"ada"}, Role: "etl", Revoke: true})
	failed := w.release(revoked)
	w.checkFailed(failed, codeRole, "user ada is not a member of role etl", "GRANT etl TO ada")
	if n := len(w.audit(rota.AuditRunAs)); n != 1 {
		t.Errorf("there are %d entries of RUN_AS after a refused one", n)
	}
	ctx, stop := context.WithCancel(context.Background())
	stop()
	w.directory.Run(ctx, func(err error) { t.Error(err) }) // writes what was counted
	denials := w.audit(rota.AuditAccessDenied)
	if len(denials) != 1 || denials[0].Actor != "ada" || !strings.Contains(denials[0].Detail, "not a member of role etl") {
		t.Errorf("the denials are %+v", denials)
	}
	ended := func(e rota.AuditEntry) bool { return e.JobID == failed.ID && e.RunID == failed.Run.ID }
	if !slices.ContainsFunc(w.audit(rota.AuditJobFailed), ended) && !slices.ContainsFunc(w.audit(rota.AuditJobExecuted), ended) {
		t.Error("the audit has no entry of the refused run")
	}
}

// TestJobOfDroppedUserDoesNotRun drops the user of a waiting job. A new user of that name does not get the job.
func TestJobOfDroppedUserDoesNotRun(t *testing.T) {
	g := newSQLiteTarget(t)
	g.target.OpenTo = []string{"ada"}
	w := newUsersEnv(t, g.target)
	w.principal(rota.KindUser, "ada")
	first, second := w.start("ada", SQL{Statement: "SELECT 1"}, true), w.start("ada", SQL{Statement: "SELECT 1"}, true)
	w.must(&rota.DropPrincipal{Meta: rota.NewMeta("admin"), Name: "ada", Kind: rota.KindUser})
	w.checkFailed(w.release(first), codeDenied, "user ada, who does not exist", "OWNER TO")
	w.principal(rota.KindUser, "ada")
	w.checkFailed(w.release(second), codeDenied, "user ada, who does not exist")
	if j := w.waitEnded(w.start("ada", SQL{Statement: "SELECT 1"}, false)); j.Run.Outcome != rota.OutcomeCompleted {
		t.Errorf("a job of the new user: %s", j.Run.Error)
	}
}

// TestJobRunsWithRightsOfOwner executes templates as other users than their owners.
func TestJobRunsWithRightsOfOwner(t *testing.T) {
	g := newSQLiteTarget(t)
	g.target.OpenTo = []string{"ada"}
	w := newUsersEnv(t, g.target)
	w.principal(rota.KindUser, "ada")
	w.principal(rota.KindUser, "nobody")
	for owner, caller := range map[string]string{"ada": "nobody", "nobody": "admin"} {
		w.must(&rota.PutTemplate{Meta: rota.NewMeta(owner), Name: "of-" + owner, Spec: rota.TemplateSpec{Type: "sql", Params: job(SQL{Statement: "SELECT 1", Target: "t"}).Params}})
		j := w.waitEnded(w.enqueueAs(caller, rota.NewJob{Template: "of-" + owner}))
		if owner == "nobody" {
			w.checkFailed(j, codeDenied, "user nobody")
		} else if j.Run.Outcome != rota.OutcomeCompleted {
			t.Errorf("the job of %s, executed by %s: %s", owner, caller, j.Run.Error)
		}
	}
}

// TestUnavailableUsersAreRetried lets the store of users fail once. The statement runs once, at the second attempt.
func TestUnavailableUsersAreRetried(t *testing.T) {
	g := newPostgresTarget(t)
	_, urls := databaseLogins(t, g, "etl")
	g.query(t, "CREATE TABLE seen (id int)")
	w := newUsersEnv(t, Target{URL: g.target.URL, Roles: map[string]string{"etl": urls["etl"]}})
	for _, row := range []struct {
		fault *atomic.Int32
		says  string
	}{{&w.faults.noReads, "the rights of user admin cannot be read"}, {&w.faults.noRecords, "cannot be written to the audit"}} {
		row.fault.Store(1)
		w.directory.Invalidate()
		one := job(SQL{Statement: "INSERT INTO seen VALUES (1)", Target: "t", RunAs: "etl"})
		one.MaxRetries = new(1)
		jobs := w.waitAttempts(w.enqueueAs("admin", one))
		if len(jobs) != 2 || !strings.Contains(jobs[0].Run.Error, row.says) || jobs[1].Run.Outcome != rota.OutcomeCompleted {
			t.Fatalf("%d attempts, the first with %q, the last %s", len(jobs), jobs[0].Run.Error, jobs[len(jobs)-1].Run.Outcome)
		}
	}
	if n := g.queryValue(t, "SELECT count(*) FROM seen"); n != "2" {
		t.Errorf("two jobs have written %s rows", n)
	}
	if n := len(w.audit(rota.AuditRunAs)); n != 2 {
		t.Errorf("two runs as a role have %d entries", n)
	}
}

func TestOpenToTakesNamesOnly(t *testing.T) {
	for name, ok := range map[string]bool{"ada": true, "team/etl": true, "*": false, "": false, "a b": false, "public": false, "admin": false} {
		err := CheckTarget("t", Target{URL: MainURL, OpenTo: []string{"etl", name}})
		var refusal *rota.Error
		if ok != (err == nil) || !ok && (!errors.As(err, &refusal) || refusal.Field != "targets.t.open_to") {
			t.Errorf("%q: %v", name, err)
		}
	}
}
