package session_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/access"
	"github.com/rotajobs/rota/sql/ddl"
	"github.com/rotajobs/rota/sql/session"
	"github.com/rotajobs/rota/sql/system"
)

func TestStatementsNameThePrivilegesOfTheStore(t *testing.T) {
	var want []string
	for _, p := range rota.Privileges {
		want = append(want, string(p))
	}
	if !slices.Equal(ddl.Privileges, want) {
		t.Errorf("the parser knows %q, the store %q", ddl.Privileges, want)
	}
}

// TestPasswordIsStoredAsVerifier covers a password, and a verifier, which psql's \password sends.
func TestPasswordIsStoredAsVerifier(t *testing.T) {
	b := newFixture(t)
	stored := func() string {
		p, err := b.store.Principal(context.Background(), "ada")
		if err != nil {
			t.Fatal(err)
		}
		return p.Spec.Verifier
	}
	b.has("CREATE USER ada PASSWORD 'correct horse'", "CREATE USER")
	verifier, err := access.ParseVerifier(stored())
	if err != nil || !verifier.Matches("correct horse") || verifier.Matches("correct") {
		t.Errorf("the verifier does not belong to the password: %v", err)
	}
	made := access.NewVerifier("battery staple").String()
	b.has("ALTER USER ada PASSWORD '"+made+"'", "ALTER USER")
	if stored() != made {
		t.Error("the verifier was changed")
	}
	b.has("ALTER USER ada PASSWORD NULL", "ALTER USER")
	if stored() != "" {
		t.Error("PASSWORD NULL keeps the verifier")
	}
}

// TestAccessErrorsHaveStateAndPosition checks each refusal, alone and in a transaction.
func TestAccessErrorsHaveStateAndPosition(t *testing.T) {
	b := newFixture(t)
	b.run("CREATE USER ada CERTIFICATE 'ada.example'; CREATE ROLE ops; CREATE ROLE dev; GRANT ops TO dev; CREATE JOB j SCHEDULE = EVERY 1 HOUR AS CALL noop()")
	for _, row := range []struct{ text, at, state string }{
		{"CREATE USER ada", "ada", session.StateDuplicate},
		{"CREATE ROLE ada", "ada", session.StateDuplicate},
		{"CREATE USER eve CERTIFICATE 'ada.example'", "'ada.example'", session.StateDuplicate},
		{"CREATE USER eve PASSWORD 'short'", "'short'", session.StateBadValue},
		{"CREATE USER admin", "admin", session.StateBadValue},
		{"ALTER USER admin PASSWORD 'correct horse'", "admin", session.StateNotSupported},
		{"ALTER USER eve PASSWORD 'correct horse'", "eve", session.StateUnknown},
		{"ALTER ROLE ops PASSWORD 'correct horse'", "ops", session.StateUnknown},
		{"DROP USER eve", "eve", session.StateUnknown},
		{"DROP USER ops", "ops", session.StateUnknown},
		{"DROP ROLE ada", "ada", session.StateUnknown},
		{"GRANT EXECUTE JOB TO ada, eve", "eve", session.StateUnknown},
		{"GRANT EXECUTE JOB TO admin", "admin", session.StateBadValue},
		{"GRANT EXECUTE JOB ON JOB gone TO ada", "gone", session.StateUnknown},
		{"GRANT EXECUTE JOB, CREATE JOB ON JOB j TO ada", "CREATE", session.StateBadValue},
		{"GRANT gone TO ada", "gone", session.StateUnknown},
		{"GRANT ada TO dev", "ada", session.StateUnknown},
		{"GRANT dev TO ops", "dev", session.StateBadValue},
		{"SHOW GRANTS FOR eve", "eve", session.StateUnknown},
	} {
		for _, begin := range []string{"", "BEGIN"} {
			b.run(begin)
			_, err := b.session.Answers(context.Background(), row.text)
			var e *session.Error
			if want := strings.LastIndex(row.text, row.at) + 1; !errors.As(err, &e) || e.State != row.state || e.Position != want {
				t.Errorf("%s %s: %v at %d, want %s at %d", begin, row.text, err, position(e), row.state, want)
			}
			if begin != "" {
				b.run("ROLLBACK")
			}
		}
	}
}

func position(e *session.Error) int {
	if e == nil {
		return 0
	}
	return e.Position
}

// TestSessionOfAdminUserIsSuperuser covers ADMIN through a role.
func TestSessionOfAdminUserIsSuperuser(t *testing.T) {
	b := newFixture(t)
	b.run("CREATE USER ada; CREATE USER eve; CREATE ROLE root; GRANT ADMIN TO root; GRANT root TO ada")
	for user, want := range map[string]string{"admin": "on", "ada": "on", "eve": "off"} {
		s := b.console.Session(b.store, user)
		if got, _ := s.Setting("is_superuser"); got != want {
			t.Errorf("is_superuser of %s is %s, want %s", user, got, want)
		}
		answers, err := s.Answers(context.Background(), "SELECT current_user, current_setting('is_superuser'), rolsuper FROM pg_roles WHERE rolname = current_user")
		if err != nil || len(answers[0].Rows) != 1 || answers[0].Rows[0][0] != user || answers[0].Rows[0][1] != want || answers[0].Rows[0][2] != (want == "on") {
			t.Errorf("%s: %v, %v", user, answers, err)
		}
	}
}

// TestSessionOfBoundedTokenIsNoSuperuser: a token that may not do everything says so, also if its user is an administrator.
func TestSessionOfBoundedTokenIsNoSuperuser(t *testing.T) {
	b := newFixture(t)
	b.run("CREATE USER ada; GRANT ADMIN TO ada; CREATE USER eve")
	directory := access.NewDirectory(b.store, nil)
	defer directory.Close()
	for _, one := range []struct {
		user, job string
		scope     rota.TokenScope
		want      string
	}{
		{"ada", "", rota.ScopeWrite, "on"},
		{"admin", "", rota.ScopeWrite, "on"},
		{"admin", "", rota.ScopeRead, "off"},
		{"ada", "", rota.ScopeRead, "off"},
		{"admin", "job", rota.ScopeWrite, "off"},
		{"eve", "", rota.ScopeWrite, "off"},
	} {
		s := b.console.Session(directory.Guard(tokenOf(b, directory, one.user, one.scope, one.job)), one.user)
		if got, _ := s.Setting("is_superuser"); got != one.want {
			t.Errorf("is_superuser of a token of %s, scope %s, job %q is %s, want %s", one.user, one.scope, one.job, got, one.want)
		}
	}
}

// tokenOf creates a token and returns its identity.
func tokenOf(b *fixture, directory *access.Directory, user string, scope rota.TokenScope, job string) access.Identity {
	b.Helper()
	id, token := access.NewToken()
	put := &rota.PutToken{Meta: rota.NewMeta("admin"), TokenID: id, User: user, Scope: scope, Job: job, Hash: access.HashToken(token)}
	if _, err := rota.Do[*rota.TokenPut](context.Background(), b.store, put); err != nil {
		b.Fatal(err)
	}
	identity, err := directory.ByToken(context.Background(), token)
	if err != nil {
		b.Fatal(err)
	}
	return identity
}

// TestNodesNeedTheRightToSeeAllJobs reads sys.nodes, which says how many jobs run in all.
func TestNodesNeedTheRightToSeeAllJobs(t *testing.T) {
	b := newFixture(t)
	console := session.New(session.Config{Nodes: func(context.Context) ([]system.Node, error) { return []system.Node{{Name: "n1", State: "ACTIVE"}}, nil }})
	defer console.Close()
	b.run("CREATE USER ada; GRANT VIEW JOB HISTORY TO ada; CREATE USER eve; CREATE USER bob")
	directory := access.NewDirectory(b.store, nil)
	defer directory.Close()
	nodes := func(id access.Identity) error {
		_, err := console.Session(directory.Guard(id), id.User).Answers(context.Background(), "SELECT node_name FROM sys.nodes")
		return err
	}
	if err := nodes(tokenOf(b, directory, "ada", rota.ScopeRead, "")); err != nil {
		t.Errorf("a user that may see all jobs: %v", err)
	}
	bob := tokenOf(b, directory, "bob", rota.ScopeWrite, "")
	b.run("DROP USER bob")
	directory.Invalidate()
	for name, id := range map[string]access.Identity{
		"without a right": tokenOf(b, directory, "eve", rota.ScopeWrite, ""), "a worker": tokenOf(b, directory, "admin", rota.ScopeWorker, ""), "dropped": bob,
	} {
		if err := nodes(id); err == nil {
			t.Errorf("%s: sys.nodes is readable", name)
		}
	}
}

// TestScopeIsCheckedBeforeAStatementIsPlanned runs statements whose other errors would say what exists, one by one, in one text and
// prepared. All of them have the same answer. What changes only the session needs no scope.
func TestScopeIsCheckedBeforeAStatementIsPlanned(t *testing.T) {
	b := newFixture(t)
	directory := access.NewDirectory(b.store, nil)
	defer directory.Close()
	ctx := context.Background()
	for _, row := range []struct {
		scope     rota.TokenScope
		statement string
		refused   bool
	}{
		{rota.ScopeRead, "DROP JOB missing", true},
		{rota.ScopeRead, "CREATE JOB x SCHEDULE = EVERY 1 HOUR AS CALL missing()", true},
		{rota.ScopeRead, "CREATE USER admin", true},
		{rota.ScopeRead, "GRANT EXECUTE JOB TO nobody", true},
		{rota.ScopeRead, "CANCEL JOB RUN '00000000-0000-7000-8000-000000000000'", true},
		{rota.ScopeRead, "ALTER JOB missing OWNER TO nobody", true},
		{rota.ScopeRead, "SHOW JOBS", false},
		{rota.ScopeRead, "SHOW is_superuser", false},
		{rota.ScopeRead, "SELECT 1", false},
		{rota.ScopeRead, "SET timezone = 'UTC'", false},
		{rota.ScopeRead, "DISCARD ALL", false},
		{rota.ScopeWorker, "SELECT nonsense FROM nowhere", true},
		{rota.ScopeWorker, "SHOW JOBS", true},
		{rota.ScopeWorker, "DROP JOB missing", true},
		{rota.ScopeWorker, "SET timezone = 'UTC'", false},
		{rota.ScopeWorker, "ROLLBACK", false},
		{rota.ScopeWrite, "SHOW JOBS", false},
		{rota.ScopeWrite, "CREATE ROLE ops", false},
	} {
		identity := tokenOf(b, directory, "admin", row.scope, "")
		s := b.console.Session(directory.Guard(identity), "admin")
		check := func(way string, err error) {
			t.Helper()
			var e *session.Error
			denied := errors.As(err, &e) && e.State == session.StateDenied && e.Message == "token "+identity.Token+" has the scope "+string(row.scope)+", which does not allow this"
			if denied != row.refused || !row.refused && err != nil {
				t.Errorf("%s %s with the scope %s: %v", way, row.statement, row.scope, err)
			}
		}
		_, err := s.Prepare(ctx, row.statement, nil)
		check("prepare", err)
		_, err = s.Answers(ctx, row.statement)
		check("run", err)
		if row.refused {
			_, err = s.Answers(ctx, "SELECT nonsense FROM nowhere; "+row.statement)
			check("run after another", err)
			if got := s.Status(); got != session.Idle {
				t.Errorf("the session is in state %c", got)
			}
		}
	}
}
