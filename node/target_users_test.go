package node

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/access"
)

// userToken creates a user that may create jobs, and returns a token of it.
func (l *testNode) userToken(user string) string {
	l.t.Helper()
	id, text := access.NewToken()
	for _, c := range []rota.Command{
		&rota.PutPrincipal{Meta: rota.NewMeta("admin"), Name: user, Kind: rota.KindUser, Mode: rota.PutCreate},
		&rota.GrantPrivileges{Meta: rota.NewMeta("admin"), To: []string{user}, Privileges: []rota.Privilege{rota.CreateJob}},
		&rota.PutToken{Meta: rota.NewMeta("admin"), TokenID: id, User: user, Scope: rota.ScopeWrite, Hash: access.HashToken(text)},
	} {
		if _, err := rota.Do[rota.Reply](l.t.Context(), l.store, c); err != nil {
			l.t.Fatal(err)
		}
	}
	return text
}

// runSQL creates a SQL job over HTTP with a token, waits for an event of it and returns its run.
func (l *testNode) runSQL(token string, until rota.EventKind) *rota.Run {
	l.t.Helper()
	admin := l.token
	l.token = token
	response, text := l.request("POST", "/api/v1/jobs", `{"type": "sql", "params": {"statement": "CREATE TABLE IF NOT EXISTS seen (id int)"}, "max_retries": 3}`)
	l.token = admin
	var created struct{ ID string }
	if err := json.Unmarshal([]byte(text), &created); err != nil || response.StatusCode != http.StatusCreated {
		l.t.Fatalf("%d %s", response.StatusCode, text)
	}
	id, err := rota.ParseID(created.ID)
	if err != nil {
		l.t.Fatal(err)
	}
	l.await(until, id)
	jobs, err := l.store.Execution(l.t.Context(), id)
	if err != nil || len(jobs) != 1 {
		l.t.Fatalf("%d attempts, %v", len(jobs), err)
	}
	return jobs[0].Run
}

// TestUserNeedsOpenToForSQLJobs creates a SQL job as a user, and opens the target to it with the next start.
func TestUserNeedsOpenToForSQLJobs(t *testing.T) {
	data := t.TempDir()
	l := start(t, Config{Data: data})
	token := l.userToken("ada")
	refused := l.runSQL(token, rota.EventJobDead)
	if refused.Outcome != rota.OutcomeFailed || refused.ErrorCode != "denied" {
		t.Fatalf("%s (%s): %s", refused.Outcome, refused.ErrorCode, refused.Error)
	}
	const want = "target main: user ada may not use the login of the target; an administrator can change the configuration: name the user, or one of its roles, in open_to of the target"
	if refused.Error != want {
		t.Errorf("the error is %q", refused.Error)
	}
	if admin := l.runSQL(l.token, rota.EventJobCompleted); admin.Outcome != rota.OutcomeCompleted {
		t.Errorf("the job of the administrator: %s", admin.Error)
	}
	l.stopCleanly()

	c, err := Load(configFile(t, "targets: {main: {open_to: [ada]}}"), noEnv)
	if err != nil {
		t.Fatal(err)
	}
	l = start(t, Config{Data: data, Targets: c.Targets})
	if opened := l.runSQL(token, rota.EventJobCompleted); opened.Outcome != rota.OutcomeCompleted {
		t.Errorf("the job on a target that is open to its user: %s", opened.Error)
	}
	if other := l.runSQL(l.userToken("bob"), rota.EventJobDead); other.ErrorCode != "denied" || !strings.Contains(other.Error, "user bob") {
		t.Errorf("the job of another user: %s (%s)", other.Error, other.ErrorCode)
	}
}
