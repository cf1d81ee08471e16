package access_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/access"
	"github.com/rotajobs/rota/store/sqlite"
)

// site is a store with users, and the Guards of these users.
type site struct {
	t         testing.TB
	store     rota.Store
	directory *access.Directory
	pending   []rota.Command // commands of a set-up, applied as one batch
	collects  bool
}

var began = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// newSite opens an empty store.
func newSite(t testing.TB) *site {
	t.Helper()
	return openSite(t, filepath.Join(t.TempDir(), "rota.db"))
}

// ticks moves the clock of all stores by one second at each reading, so that every row has a time of its own.
var ticks atomic.Int64

func clock() time.Time { return began.Add(time.Duration(ticks.Add(1)) * time.Second) }

func openSite(t testing.TB, path string) *site {
	t.Helper()
	store, err := sqlite.OpenWith(path, sqlite.Config{Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	return siteOf(t, store)
}

// siteOf is the site of an open store, which it closes.
func siteOf(t testing.TB, store rota.Store) *site {
	t.Helper()
	t.Cleanup(func() { _ = store.Close() })
	s := &site{t: t, store: store, directory: access.NewDirectory(store, clock)}
	t.Cleanup(s.directory.Close)
	return s
}

// must applies a command with the rights of nobody in particular, and fails the test if it is refused.
func (s *site) must(c rota.Command) rota.Reply {
	s.t.Helper()
	if s.collects {
		s.pending = append(s.pending, c)
		return nil
	}
	reply, err := rota.Do[rota.Reply](context.Background(), s.store, c)
	if err != nil {
		s.t.Fatalf("%s: %v", c.Verb(), err)
	}
	s.directory.Invalidate()
	return reply
}

// setUp applies the commands of a function as one batch, which is much faster.
func (s *site) setUp(commands func()) {
	s.t.Helper()
	s.collects = true
	commands()
	s.collects = false
	results, err := s.store.Apply(context.Background(), rota.Batch{Commands: s.pending})
	if err != nil {
		s.t.Fatal(err)
	}
	for i, r := range results {
		if r.Err != nil {
			s.t.Fatalf("%s: %v", s.pending[i].Verb(), r.Err)
		}
	}
	s.pending = nil
	s.directory.Invalidate()
}

// users creates users.
func (s *site) users(names ...string) {
	s.t.Helper()
	for _, name := range names {
		s.must(&rota.PutPrincipal{Meta: rota.NewMeta("admin"), Name: name, Kind: rota.KindUser, Mode: rota.PutCreate})
	}
}

func (s *site) role(name string, members ...string) {
	s.t.Helper()
	s.must(&rota.PutPrincipal{Meta: rota.NewMeta("admin"), Name: name, Kind: rota.KindRole, Mode: rota.PutCreate})
	if len(members) > 0 {
		s.must(&rota.GrantPrivileges{Meta: rota.NewMeta("admin"), To: members, Role: name})
	}
}

func (s *site) grant(to string, p rota.Privilege, job string) {
	s.t.Helper()
	s.must(&rota.GrantPrivileges{Meta: rota.NewMeta("admin"), To: []string{to}, Privileges: []rota.Privilege{p}, Job: job})
}

func (s *site) revoke(from string, p rota.Privilege, job string) {
	s.t.Helper()
	s.must(&rota.GrantPrivileges{Meta: rota.NewMeta("admin"), To: []string{from}, Privileges: []rota.Privilege{p}, Job: job, Revoke: true})
}

// define creates a template and a schedule of the same name, owned by a user.
func (s *site) define(name, owner string) {
	s.t.Helper()
	if t, err := s.store.Template(context.Background(), name); err == nil && t.State == rota.TemplateArchived {
		s.must(&rota.Unarchive{Meta: rota.NewMeta(owner), Name: name}) // as CREATE JOB does
	}
	s.must(&rota.PutTemplate{Meta: rota.NewMeta(owner), Name: name, Spec: rota.TemplateSpec{Type: "sql", Params: []byte(`{"statement":"SELECT 1"}`)}})
	s.must(&rota.PutSchedule{Meta: rota.NewMeta(owner), Name: name, State: rota.SchedulePaused, Spec: rota.ScheduleSpec{Template: name, Every: time.Hour}, Next: began.AddDate(1, 0, 0)})
}

// trigger creates a job of a schedule.
func (s *site) trigger(schedule string) *rota.Job {
	s.t.Helper()
	return s.must(&rota.Trigger{Meta: rota.NewMeta("admin"), Schedule: schedule}).(*rota.Triggered).Jobs[0]
}

// enqueue creates a job without a definition.
func (s *site) enqueue(actor string) *rota.Job {
	s.t.Helper()
	return s.must(&rota.Enqueue{Meta: rota.NewMeta(actor), Jobs: []rota.NewJob{{Type: "noop"}}}).(*rota.Enqueued).Jobs[0].Job
}

// as returns the Guard of a user.
func (s *site) as(user string) *access.Guard {
	s.t.Helper()
	if user == rota.AdminUser {
		return s.directory.Guard(access.Admin())
	}
	p, err := s.store.Principal(context.Background(), user)
	if err != nil {
		s.t.Fatal(err)
	}
	return s.directory.Guard(access.Identity{User: user, UserSince: p.CreatedAt})
}

// token creates a token and returns its Guard.
func (s *site) token(user string, scope rota.TokenScope, change ...func(*rota.PutToken)) *access.Guard {
	s.t.Helper()
	id, token := access.NewToken()
	put := &rota.PutToken{Meta: rota.NewMeta("admin"), TokenID: id, User: user, Scope: scope, Hash: access.HashToken(token)}
	for _, one := range change {
		one(put)
	}
	s.must(put)
	identity, err := s.directory.ByToken(context.Background(), token)
	if err != nil {
		s.t.Fatal(err)
	}
	return s.directory.Guard(identity)
}

// verdict is the code of the error of a command; empty: it was applied.
func verdict(g *access.Guard, c rota.Command) rota.Code {
	_, err := rota.Do[rota.Reply](context.Background(), g, c)
	return rota.CodeOf(err)
}

// relations are what a user may have to do with a definition. Each has a user of its own.
var relations = []struct {
	user string
	set  func(s *site, user string)
}{
	{"nobody", nil},
	{"owner", nil},
	{"creator", func(s *site, user string) { s.grant(user, rota.CreateJob, "") }},
	{"alterer", func(s *site, user string) { s.grant(user, rota.AlterJob, "job") }},
	{"dropper", func(s *site, user string) { s.grant(user, rota.DropJob, "job") }},
	{"executor", func(s *site, user string) { s.grant(user, rota.ExecuteJob, "job") }},
	{"viewer", func(s *site, user string) { s.grant(user, rota.ViewJobHistory, "job") }},
	{"alter-all", func(s *site, user string) { s.grant(user, rota.AlterJob, "") }},
	{"drop-all", func(s *site, user string) { s.grant(user, rota.DropJob, "") }},
	{"execute-all", func(s *site, user string) { s.grant(user, rota.ExecuteJob, "") }},
	{"view-all", func(s *site, user string) { s.grant(user, rota.ViewJobHistory, "") }},
	{"by-role", func(s *site, user string) {
		s.role("outer", user)
		s.role("inner", "outer")
		s.grant("inner", rota.AlterJob, "job")
	}},
	{"external", func(s *site, user string) { s.grant(user, rota.ExecuteExternalJob, "job") }},
	{"admin-user", func(s *site, user string) { s.grant(user, rota.Admin, "") }},
	{"admin", nil},
}

// matrixFile holds the store of newMatrix, which is created once and copied for each test.
var matrixFile struct {
	once sync.Once
	data []byte
}

// newMatrix returns a site with one user per relation, and a definition of the owner.
func newMatrix(t testing.TB) *site {
	t.Helper()
	path := filepath.Join(t.TempDir(), "rota.db")
	matrixFile.once.Do(func() {
		s := openSite(t, path)
		s.setUpMatrix()
		if err := s.store.Close(); err != nil {
			t.Fatal(err)
		}
		matrixFile.data, _ = os.ReadFile(path)
	})
	if err := os.WriteFile(path, matrixFile.data, 0o600); err != nil {
		t.Fatal(err)
	}
	return openSite(t, path)
}

func (s *site) setUpMatrix() {
	s.t.Helper()
	s.setUp(func() {
		for _, r := range relations {
			if r.user != rota.AdminUser {
				s.users(r.user)
			}
		}
		s.define("job", "owner")
		for _, r := range relations {
			if r.set != nil {
				r.set(s, r.user)
			}
		}
	})
}

// sees are the relations that make a definition visible.
var sees = []string{
	"owner", "alterer", "dropper", "executor", "viewer", "alter-all", "drop-all", "execute-all", "view-all", "by-role", "external", "admin-user", "admin",
}

// TestCommandsNeedTheirPrivilege sends each command about a definition or its jobs as each user. A user that may not see
// the definition gets NotFound, one that may see it and lacks the privilege Denied.
func TestCommandsNeedTheirPrivilege(t *testing.T) {
	alter := []string{"owner", "alterer", "alter-all", "by-role", "admin-user", "admin"}
	drop := []string{"owner", "dropper", "drop-all", "admin-user", "admin"}
	execute := []string{"owner", "executor", "execute-all", "admin-user", "admin"}
	create := []string{"creator", "admin-user", "admin"}
	admins := []string{"admin-user", "admin"}
	priority := 7
	for _, test := range []struct {
		name    string
		command func(s *site) rota.Command
		allowed []string
		shown   bool // what it is about is no secret, so that the others are Denied
	}{
		{"alter the template", func(*site) rota.Command {
			return &rota.PutTemplate{Meta: rota.NewMeta(""), Name: "job", Spec: rota.TemplateSpec{Type: "sql", Params: []byte(`{"statement":"SELECT 2"}`)}}
		}, alter, true},
		{"alter the schedule", func(*site) rota.Command {
			return &rota.PutSchedule{Meta: rota.NewMeta(""), Name: "job", Spec: rota.ScheduleSpec{Template: "job", Every: 2 * time.Hour}, Next: began.AddDate(1, 0, 0)}
		}, alter, true},
		{"pause", func(*site) rota.Command {
			return &rota.SwitchSchedule{Meta: rota.NewMeta(""), Name: "job", State: rota.ScheduleDisabled}
		}, alter, false},
		{"archive", func(*site) rota.Command { return &rota.Archive{Meta: rota.NewMeta(""), Name: "job"} }, drop, false},
		{"delete", func(*site) rota.Command { return &rota.DeleteSchedule{Meta: rota.NewMeta(""), Name: "job"} }, drop, false},
		{"drop", func(*site) rota.Command { return &rota.Drop{Meta: rota.NewMeta(""), Name: "job"} }, drop, false},
		{"trigger", func(*site) rota.Command { return &rota.Trigger{Meta: rota.NewMeta(""), Schedule: "job"} }, execute, false},
		{"backfill", func(*site) rota.Command {
			return &rota.Backfill{Meta: rota.NewMeta(""), Schedule: "job", Times: []rota.FireTime{{At: began.Add(-time.Hour)}}}
		}, execute, false},
		{"enqueue from the template", func(*site) rota.Command {
			return &rota.Enqueue{Meta: rota.NewMeta(""), Jobs: []rota.NewJob{{Template: "job"}}}
		}, execute, false},
		{"a group from the template", func(*site) rota.Command {
			return &rota.EnqueueGroup{Meta: rota.NewMeta(""), Jobs: []rota.NewJob{{Template: "job"}}}
		}, execute, false},
		{"cancel a job", func(s *site) rota.Command { return &rota.Cancel{Meta: rota.NewMeta(""), JobID: s.trigger("job").ID} }, alter, false},
		{"edit a job", func(s *site) rota.Command {
			return &rota.Edit{Meta: rota.NewMeta(""), JobID: s.trigger("job").ID, Priority: &priority}
		}, alter, false},
		{"move a job", func(s *site) rota.Command {
			return &rota.Move{Meta: rota.NewMeta(""), JobID: s.trigger("job").ID, Place: rota.PlaceTop}
		}, alter, false},
		{"retry a job", func(s *site) rota.Command {
			j := s.trigger("job")
			s.must(&rota.Cancel{Meta: rota.NewMeta("admin"), JobID: j.ID})
			return &rota.Redrive{Meta: rota.NewMeta(""), JobID: j.ID}
		}, alter, false},
		{"create a definition", func(*site) rota.Command {
			return &rota.All{Meta: rota.NewMeta(""), Members: []rota.Command{
				&rota.PutTemplate{Meta: rota.NewMeta(""), Name: "new", Mode: rota.PutCreate, Spec: rota.TemplateSpec{Type: "sql"}},
				&rota.PutSchedule{Meta: rota.NewMeta(""), Name: "new", Mode: rota.PutCreate, State: rota.SchedulePaused, Spec: rota.ScheduleSpec{Template: "new", Every: time.Hour}, Next: began.AddDate(1, 0, 0)},
			}}
		}, create, true},
		{"an ad-hoc job", func(*site) rota.Command {
			return &rota.Enqueue{Meta: rota.NewMeta(""), Jobs: []rota.NewJob{{Type: "noop"}}}
		}, create, true},
		{"an ad-hoc command", func(*site) rota.Command {
			return &rota.Enqueue{Meta: rota.NewMeta(""), Jobs: []rota.NewJob{{Type: "exec"}}}
		}, admins, true},
		{"claim", func(*site) rota.Command {
			return &rota.Claim{Meta: rota.NewMeta(""), Worker: "w", Types: []string{"sql"}, Limit: 1, Lease: time.Minute, Seed: rota.NewToken()}
		}, admins, true},
		{"limits", func(*site) rota.Command { return &rota.PutThrottle{Meta: rota.NewMeta("")} }, admins, true},
		{"a type", func(*site) rota.Command { return &rota.PutType{Meta: rota.NewMeta(""), Name: "mail"} }, admins, true},
		{"pause a type", func(s *site) rota.Command {
			s.must(&rota.PutType{Meta: rota.NewMeta(""), Name: "mail"})
			return &rota.SwitchType{Meta: rota.NewMeta(""), Name: "mail", Paused: true}
		}, admins, true},
		{"webhooks", func(*site) rota.Command { return &rota.PutWebhooks{Meta: rota.NewMeta("")} }, admins, true},
		{"the owner", func(*site) rota.Command { return &rota.SetOwner{Meta: rota.NewMeta(""), Name: "job", Owner: "nobody"} }, admins, true},
		{"a user", func(*site) rota.Command {
			return &rota.PutPrincipal{Meta: rota.NewMeta(""), Name: "eve", Kind: rota.KindUser}
		}, admins, true},
		{"drop a user", func(*site) rota.Command {
			return &rota.DropPrincipal{Meta: rota.NewMeta(""), Name: "nobody", Kind: rota.KindUser}
		}, admins, true},
		{"grant on the job", func(*site) rota.Command {
			return &rota.GrantPrivileges{Meta: rota.NewMeta(""), To: []string{"nobody"}, Privileges: []rota.Privilege{rota.ViewJobHistory}, Job: "job"}
		}, []string{"owner", "admin-user", "admin"}, false},
		{"grant on all jobs", func(*site) rota.Command {
			return &rota.GrantPrivileges{Meta: rota.NewMeta(""), To: []string{"nobody"}, Privileges: []rota.Privilege{rota.ViewJobHistory}}
		}, admins, true},
		{"a token of another user", func(*site) rota.Command {
			return &rota.PutToken{Meta: rota.NewMeta(""), TokenID: "abcdefghij", User: "admin", Scope: rota.ScopeRead, Hash: access.HashToken("x")}
		}, admins, true},
	} {
		s := newMatrix(t)
		for _, r := range relations {
			want := rota.Denied
			switch {
			case slices.Contains(test.allowed, r.user):
				want = ""
			case !test.shown && !slices.Contains(sees, r.user):
				want = rota.NotFound
			}
			if got := verdict(s.as(r.user), test.command(s)); got != want {
				t.Errorf("%s as %s: %q, want %q", test.name, r.user, got, want)
			}
			if want == "" { // the command has changed the site
				s = newMatrix(t)
			}
		}
	}
}
