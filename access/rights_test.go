package access_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/access"
)

// TestTokenScopeIsCheckedFirst sends a read, a write and a claim with a token of each scope. The user may do everything.
func TestTokenScopeIsCheckedFirst(t *testing.T) {
	s := newMatrix(t)
	for scope, want := range map[rota.TokenScope][]rota.Code{ // read, write, claim
		rota.ScopeRead:    {"", rota.Denied, rota.Denied},
		rota.ScopeWrite:   {"", "", ""}, // as the user, who has ADMIN
		rota.ScopeSession: {"", "", ""},
		rota.ScopeWorker:  {rota.Denied, rota.Denied, ""},
	} {
		for _, user := range []string{"admin", "admin-user"} {
			g := s.token(user, scope)
			_, read := g.Schedule(context.Background(), "job")
			got := []rota.Code{
				rota.CodeOf(read), verdict(g, &rota.Trigger{Meta: rota.NewMeta(""), Schedule: "job"}),
				verdict(g, &rota.Claim{Meta: rota.NewMeta(""), Worker: "w", Types: []string{"sql"}, Limit: 1, Lease: time.Minute, Seed: rota.NewToken()}),
			}
			if !slices.Equal(got, want) {
				t.Errorf("a token of %s with scope %s: %q, want %q", user, scope, got, want)
			}
		}
	}
	if code := verdict(s.token("owner", rota.ScopeWrite), &rota.Claim{
		Meta: rota.NewMeta(""), Worker: "w", Types: []string{"sql"}, Limit: 1, Lease: time.Minute, Seed: rota.NewToken(),
	}); code != rota.Denied {
		t.Errorf("a claim of a user without ADMIN: %q", code)
	}
	g := s.token("nobody", rota.ScopeRead)
	_, err := g.Schedule(context.Background(), "job")
	if rota.CodeOf(err) != rota.NotFound {
		t.Errorf("a token shows more than its user may see: %v", err)
	}
}

// TestTokenOfOneJobReachesNoOther uses a token of an administrator that is bound to one job.
func TestTokenOfOneJobReachesNoOther(t *testing.T) {
	s := newMatrix(t)
	s.define("other", "owner")
	other := s.trigger("other")
	g := s.token("admin", rota.ScopeWrite, func(c *rota.PutToken) { c.Job = "job" })
	ctx := context.Background()
	if code := verdict(g, &rota.Trigger{Meta: rota.NewMeta(""), Schedule: "job"}); code != "" {
		t.Errorf("its own job: %s", code)
	}
	for name, code := range map[string]rota.Code{
		"trigger":  verdict(g, &rota.Trigger{Meta: rota.NewMeta(""), Schedule: "other"}),
		"cancel":   verdict(g, &rota.Cancel{Meta: rota.NewMeta(""), JobID: other.ID}),
		"schedule": codeOf(g.Schedule(ctx, "other")),
		"job":      codeOf(g.Job(ctx, other.ID)),
	} {
		if code != rota.NotFound {
			t.Errorf("%s of another job: %q", name, code)
		}
	}
	for name, code := range map[string]rota.Code{
		"ad-hoc": verdict(g, &rota.Enqueue{Meta: rota.NewMeta(""), Jobs: []rota.NewJob{{Type: "noop"}}}),
		"limits": verdict(g, &rota.PutThrottle{Meta: rota.NewMeta("")}),
		"user":   verdict(g, &rota.PutPrincipal{Meta: rota.NewMeta(""), Name: "eve", Kind: rota.KindUser}),
		"stats":  codeOf(g.Stats(ctx)),
	} {
		if code != rota.Denied {
			t.Errorf("%s: %q", name, code)
		}
	}
	jobs, err := g.Jobs(ctx, rota.JobQuery{})
	if err != nil || slices.ContainsFunc(jobs, func(j *rota.Job) bool { return j.Schedule != "job" }) {
		t.Errorf("%d jobs, %v", len(jobs), err)
	}
}

func codeOf[T any](_ T, err error) rota.Code { return rota.CodeOf(err) }

func TestWorkerTokenOfOneTypeClaimsNoOther(t *testing.T) {
	s := newSite(t)
	g := s.token("admin", rota.ScopeWorker, func(c *rota.PutToken) { c.Type = "mail" })
	for _, test := range []struct {
		types []string
		want  rota.Code
	}{{[]string{"mail"}, ""}, {[]string{"sql"}, rota.Denied}, {[]string{"mail", "sql"}, rota.Denied}} {
		claim := &rota.Claim{Meta: rota.NewMeta(""), Worker: "w", Types: test.types, Limit: 1, Lease: time.Minute, Seed: rota.NewToken()}
		if got := verdict(g, claim); got != test.want {
			t.Errorf("types %v: %q, want %q", test.types, got, test.want)
		}
	}
}

// TestRevokedRightEndsAtTheNextCall revokes a grant, a membership and a token, and drops a user, while a Guard is in use.
func TestRevokedRightEndsAtTheNextCall(t *testing.T) {
	ctx := context.Background()
	s := newMatrix(t)
	admin := s.as("admin")
	do := func(c rota.Command) {
		t.Helper()
		if _, err := rota.Do[rota.Reply](ctx, admin, c); err != nil {
			t.Fatal(err)
		}
	}
	viewer, member := s.as("viewer"), s.as("by-role")
	if _, err := viewer.Schedule(ctx, "job"); err != nil {
		t.Fatal(err)
	}
	do(&rota.GrantPrivileges{Meta: rota.NewMeta(""), To: []string{"viewer"}, Privileges: []rota.Privilege{rota.ViewJobHistory}, Job: "job", Revoke: true})
	if _, err := viewer.Schedule(ctx, "job"); rota.CodeOf(err) != rota.NotFound {
		t.Errorf("after the revoke: %v", err)
	}
	do(&rota.GrantPrivileges{Meta: rota.NewMeta(""), To: []string{"outer"}, Role: "inner", Revoke: true})
	if _, err := member.Schedule(ctx, "job"); rota.CodeOf(err) != rota.NotFound {
		t.Errorf("after the end of the membership: %v", err)
	}
	token := s.token("admin", rota.ScopeRead)
	do(&rota.RevokeToken{Meta: rota.NewMeta(""), TokenID: token.Identity().Token})
	if _, err := token.Schedule(ctx, "job"); !access.Ended(err) {
		t.Errorf("after the token was revoked: %v", err)
	}
	nobody := s.as("nobody")
	do(&rota.DropPrincipal{Meta: rota.NewMeta(""), Name: "nobody", Kind: rota.KindUser})
	if err := nobody.Valid(ctx); !access.Ended(err) {
		t.Errorf("after the user was dropped: %v", err)
	}
	do(&rota.PutPrincipal{Meta: rota.NewMeta(""), Name: "nobody", Kind: rota.KindUser})
	if err := nobody.Valid(ctx); !access.Ended(err) {
		t.Errorf("after another user got the name: %v", err)
	}
}

// TestReferencesToAnEarlierObjectHaveNoEffect drops and creates a definition, a role and a user again.
func TestReferencesToAnEarlierObjectHaveNoEffect(t *testing.T) {
	ctx := context.Background()
	s := newMatrix(t)
	old := s.trigger("job")
	s.must(&rota.Drop{Meta: rota.NewMeta("admin"), Name: "job", KeepHistory: true})
	s.define("job", "creator")
	for _, user := range []string{"owner", "alterer", "executor", "viewer", "by-role"} {
		if _, err := s.as(user).Schedule(ctx, "job"); rota.CodeOf(err) != rota.NotFound {
			t.Errorf("%s sees the schedule that was created again: %v", user, err)
		}
		if _, err := s.as(user).Template(ctx, "job"); rota.CodeOf(err) != rota.NotFound {
			t.Errorf("%s sees the template that was created again: %v", user, err)
		}
	}
	if _, err := s.as("creator").Job(ctx, old.ID); rota.CodeOf(err) != rota.NotFound {
		t.Errorf("the new owner sees a run of the old definition: %v", err)
	}
	if _, err := s.as("owner").Job(ctx, old.ID); err != nil {
		t.Errorf("the old owner does not see its run: %v", err)
	}
	s.must(&rota.DropPrincipal{Meta: rota.NewMeta("admin"), Name: "inner", Kind: rota.KindRole})
	s.role("inner")
	s.grant("inner", rota.AlterJob, "")
	if _, err := s.as("by-role").Schedule(ctx, "job"); rota.CodeOf(err) != rota.NotFound {
		t.Errorf("a membership in a role that was dropped: %v", err)
	}
	token := s.token("nobody", rota.ScopeWrite)
	s.must(&rota.DropPrincipal{Meta: rota.NewMeta("admin"), Name: "nobody", Kind: rota.KindUser})
	s.users("nobody")
	if err := token.Valid(ctx); !access.Ended(err) {
		t.Errorf("a token of a user that was dropped: %v", err)
	}
}

// TestGrantOnTemplateThatWasDroppedBeforeHasEffect grants again what was granted on an earlier definition, of which only the
// template is created again. Its row is older than the first grant.
func TestGrantOnTemplateThatWasDroppedBeforeHasEffect(t *testing.T) {
	s := newMatrix(t)
	s.must(&rota.Drop{Meta: rota.NewMeta("admin"), Name: "job"})
	s.must(&rota.Unarchive{Meta: rota.NewMeta("creator"), Name: "job"})
	if _, err := s.as("viewer").Template(context.Background(), "job"); rota.CodeOf(err) != rota.NotFound {
		t.Errorf("before the grant: %v", err)
	}
	s.grant("viewer", rota.ViewJobHistory, "job")
	if _, err := s.as("viewer").Template(context.Background(), "job"); err != nil {
		t.Errorf("after the grant: %v", err)
	}
}

// recreating recreates the definition "job" under another owner before it applies a command, as another node might.
type recreating struct {
	rota.Store
	before func()
}

func (r *recreating) Apply(ctx context.Context, b rota.Batch) ([]rota.Result, error) {
	if do := r.before; do != nil {
		r.before = nil
		do()
	}
	return r.Store.Apply(ctx, b)
}

// TestDefinitionRecreatedBesideACommandIsNotChanged lets another owner recreate a definition between the decision of the
// Guard and the transaction.
func TestDefinitionRecreatedBesideACommandIsNotChanged(t *testing.T) {
	for name, command := range map[string]func() rota.Command{
		"alter the template": func() rota.Command {
			return &rota.PutTemplate{Meta: rota.NewMeta(""), Name: "job", Spec: rota.TemplateSpec{Type: "sql", Params: []byte(`{"statement":"DROP TABLE x"}`)}}
		},
		"trigger": func() rota.Command { return &rota.Trigger{Meta: rota.NewMeta(""), Schedule: "job"} },
		"drop":    func() rota.Command { return &rota.Drop{Meta: rota.NewMeta(""), Name: "job"} },
		"pause": func() rota.Command {
			return &rota.SwitchSchedule{Meta: rota.NewMeta(""), Name: "job", State: rota.ScheduleDisabled}
		},
		"enqueue": func() rota.Command {
			return &rota.Enqueue{Meta: rota.NewMeta(""), Jobs: []rota.NewJob{{Template: "job"}}}
		},
		"grant": func() rota.Command {
			return &rota.GrantPrivileges{Meta: rota.NewMeta(""), To: []string{"nobody"}, Privileges: []rota.Privilege{rota.AlterJob}, Job: "job"}
		},
		"all": func() rota.Command {
			return &rota.All{Meta: rota.NewMeta(""), Members: []rota.Command{&rota.Drop{Meta: rota.NewMeta(""), Name: "job"}}}
		},
	} {
		s := newMatrix(t)
		store := &recreating{Store: s.store}
		directory := access.NewDirectory(store, nil)
		guard := directory.Guard(s.as("owner").Identity())
		store.before = func() {
			s.must(&rota.Drop{Meta: rota.NewMeta("admin"), Name: "job"})
			s.define("job", "creator")
		}
		if code := verdict(guard, command()); code != rota.NotFound && code != rota.Denied {
			t.Errorf("%s: the former owner acts on the new definition: %q", name, code)
		}
		schedule, err := s.store.Schedule(context.Background(), "job")
		if err != nil || schedule.Owner != "creator" || schedule.State != rota.SchedulePaused {
			t.Errorf("%s: the new schedule was changed: %v, %v", name, schedule, err)
		}
		directory.Close()
	}
}

// TestExecutorCannotChangeWhatRuns overrides params of a SQL job.
func TestExecutorCannotChangeWhatRuns(t *testing.T) {
	s := newMatrix(t)
	for params, want := range map[string]rota.Code{
		`{"region":"eu"}`: "", `{"statement":"x"}`: rota.Denied, `{"STATEMENT":"x"}`: rota.Denied,
		`{"target":"x"}`: rota.Denied, `{"run_as":"x"}`: rota.Denied, `{"a":1,"target":"x"}`: rota.Denied,
	} {
		for name, c := range map[string]rota.Command{
			"trigger": &rota.Trigger{Meta: rota.NewMeta(""), Schedule: "job", Params: []byte(params)},
			"enqueue": &rota.Enqueue{Meta: rota.NewMeta(""), Jobs: []rota.NewJob{{Template: "job", Params: []byte(params)}}},
			"group":   &rota.EnqueueGroup{Meta: rota.NewMeta(""), Jobs: []rota.NewJob{{Template: "job", Params: []byte(params)}}},
		} {
			if got := verdict(s.as("executor"), c); got != want {
				t.Errorf("%s with %s: %q, want %q", name, params, got, want)
			}
		}
	}
}

// TestRunAsNeedsMembership makes jobs that run as a role.
func TestRunAsNeedsMembership(t *testing.T) {
	s := newMatrix(t)
	s.role("etl", "creator")
	s.grant("alterer", rota.CreateJob, "")
	as := func(role string) rota.TemplateSpec {
		return rota.TemplateSpec{Type: "sql", Params: []byte(fmt.Sprintf(`{"statement":"x","run_as":%q}`, role))}
	}
	for _, test := range []struct {
		user, role string
		want       rota.Code
	}{
		{"creator", "etl", ""}, {"creator", "creator", ""}, {"creator", "owner", rota.Denied}, {"alterer", "etl", rota.Denied}, {"admin", "etl", ""},
	} {
		for name, c := range map[string]rota.Command{
			"template": &rota.PutTemplate{Meta: rota.NewMeta(""), Name: "t-" + test.user + test.role, Spec: as(test.role)},
			"ad-hoc":   &rota.Enqueue{Meta: rota.NewMeta(""), Jobs: []rota.NewJob{{Type: "sql", Params: as(test.role).Params}}},
		} {
			if got := verdict(s.as(test.user), c); got != test.want {
				t.Errorf("%s of %s as %s: %q, want %q", name, test.user, test.role, got, test.want)
			}
		}
	}
	if got := verdict(s.as("alterer"), &rota.PutTemplate{Meta: rota.NewMeta(""), Name: "job", Spec: as("etl")}); got != rota.Denied {
		t.Errorf("who may alter a job lets it run as a role of others: %q", got)
	}
}

// TestUsersManageThemselves changes the own password and own tokens.
func TestUsersManageThemselves(t *testing.T) {
	s := newMatrix(t)
	password := access.NewVerifier("correct horse battery").String()
	token := func(user string, scope rota.TokenScope) *rota.PutToken {
		id, text := access.NewToken()
		return &rota.PutToken{Meta: rota.NewMeta(""), TokenID: id, User: user, Scope: scope, Hash: access.HashToken(text)}
	}
	own, of, session := s.as("nobody"), s.token("nobody", rota.ScopeWrite), s.token("nobody", rota.ScopeSession)
	bound := s.token("nobody", rota.ScopeWrite, func(c *rota.PutToken) { c.Job = "job" })
	for _, test := range []struct {
		name  string
		guard *access.Guard
		c     rota.Command
		want  rota.Code
	}{
		{"own password with a token", of, &rota.PutPrincipal{Meta: rota.NewMeta(""), Name: "nobody", Kind: rota.KindUser, Mode: rota.PutReplace, Verifier: &password}, rota.Denied},
		{"own certificate", own, &rota.PutPrincipal{Meta: rota.NewMeta(""), Name: "nobody", Kind: rota.KindUser, Mode: rota.PutReplace, Verifier: &password, Certificate: new("cn")}, rota.Denied},
		{"password of others", own, &rota.PutPrincipal{Meta: rota.NewMeta(""), Name: "owner", Kind: rota.KindUser, Mode: rota.PutReplace, Verifier: &password}, rota.Denied},
		{"own read token", own, token("nobody", rota.ScopeRead), ""},
		{"own worker token", own, token("nobody", rota.ScopeWorker), rota.Denied},
		{"a token by a token", of, token("nobody", rota.ScopeWrite), rota.Denied},
		{"a token by a session", session, token("nobody", rota.ScopeWrite), ""},
		{"a token by a session of an administrator", s.token("admin-user", rota.ScopeSession), token("owner", rota.ScopeWorker), ""},
		{"a worker token by a session", session, token("nobody", rota.ScopeWorker), rota.Denied},
		{"a token of others by a session", session, token("owner", rota.ScopeRead), rota.Denied},
		{"a session by a session", session, token("nobody", rota.ScopeSession), rota.Denied},
		{"a session by a token", of, token("nobody", rota.ScopeSession), rota.Denied},
		{"a session without a token", own, token("nobody", rota.ScopeSession), ""},
		{"own password with a session", session, &rota.PutPrincipal{Meta: rota.NewMeta(""), Name: "nobody", Kind: rota.KindUser, Mode: rota.PutReplace, Verifier: &password}, rota.Denied},
		{"revoke another with a token of one job", bound, &rota.RevokeToken{Meta: rota.NewMeta(""), TokenID: of.Identity().Token}, rota.Denied},
		{"revoke another with a read token", s.token("nobody", rota.ScopeRead), &rota.RevokeToken{Meta: rota.NewMeta(""), TokenID: of.Identity().Token}, rota.Denied},
		{"revoke another with a session", session, &rota.RevokeToken{Meta: rota.NewMeta(""), TokenID: s.token("nobody", rota.ScopeRead).Identity().Token}, ""},
		{"revoke its own", own, &rota.RevokeToken{Meta: rota.NewMeta(""), TokenID: of.Identity().Token}, ""},
		{"revoke others'", own, &rota.RevokeToken{Meta: rota.NewMeta(""), TokenID: s.token("owner", rota.ScopeRead).Identity().Token}, rota.NotFound},
		{"own password", own, &rota.PutPrincipal{Meta: rota.NewMeta(""), Name: "nobody", Kind: rota.KindUser, Mode: rota.PutReplace, Verifier: &password}, ""},
	} {
		if got := verdict(test.guard, test.c); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

// TestEveryTokenRevokesItself sends the revocation of each kind of token with the token itself.
func TestEveryTokenRevokesItself(t *testing.T) {
	s := newMatrix(t)
	for _, scope := range rota.TokenScopes {
		for _, job := range []string{"", "job"} {
			if job != "" && (scope == rota.ScopeSession || scope == rota.ScopeWorker) {
				continue
			}
			g := s.token("nobody", scope, func(c *rota.PutToken) { c.Job = job })
			if code := verdict(g, &rota.RevokeToken{Meta: rota.NewMeta(""), TokenID: g.Identity().Token}); code != "" {
				t.Errorf("a token of scope %s for job %q: %s", scope, job, code)
			}
			if err := g.Valid(context.Background()); !access.Ended(err) {
				t.Errorf("a token of scope %s is valid after it revoked itself: %v", scope, err)
			}
		}
	}
}

// TestDenialOfATokenNamesItsScope checks the refusal of a request that the user may send, but not with this token.
func TestDenialOfATokenNamesItsScope(t *testing.T) {
	s := newMatrix(t)
	password := access.NewVerifier("correct horse battery").String()
	id, text := access.NewToken()
	for want, c := range map[string]rota.Command{
		"a token of scope write cannot create tokens": &rota.PutToken{Meta: rota.NewMeta(""), TokenID: id, User: "nobody", Scope: rota.ScopeRead, Hash: access.HashToken(text)},
		"a token of scope write cannot change the password of user nobody": &rota.PutPrincipal{
			Meta: rota.NewMeta(""), Name: "nobody", Kind: rota.KindUser, Mode: rota.PutReplace, Verifier: &password,
		},
	} {
		_, err := rota.Do[rota.Reply](context.Background(), s.token("nobody", rota.ScopeWrite), c)
		var e *rota.Error
		if !errors.As(err, &e) || e.Reason != want || e.Hint == "" {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestReplyHidesWhatTheCallerMayNotSee triggers a job without VIEW JOB HISTORY.
func TestReplyHidesWhatTheCallerMayNotSee(t *testing.T) {
	s := newMatrix(t)
	for user, hidden := range map[string]bool{"executor": true, "owner": false} {
		reply, err := rota.Do[*rota.Triggered](context.Background(), s.as(user), &rota.Trigger{Meta: rota.NewMeta(""), Schedule: "job"})
		if err != nil {
			t.Fatal(err)
		}
		if j := reply.Jobs[0]; (len(j.Params) == 0) != hidden || j.ID.IsZero() || j.Status != rota.StatusQueued {
			t.Errorf("%s gets %+v", user, j)
		}
	}
}

// TestRepliesHoldNoCredentials sends commands about users and tokens, and a grant of an owner to another user.
func TestRepliesHoldNoCredentials(t *testing.T) {
	ctx := context.Background()
	s := newMatrix(t)
	verifier := access.NewVerifier("correct horse battery").String()
	admin := s.as("admin")
	id, token := access.NewToken()
	put := &rota.PutToken{Meta: rota.NewMeta(""), TokenID: id, User: "viewer", Scope: rota.ScopeRead, Hash: access.HashToken(token), Verifier: access.NewVerifier(token).String()}
	user := &rota.PutPrincipal{Meta: rota.NewMeta(""), Name: "viewer", Kind: rota.KindUser, Mode: rota.PutReplace, Verifier: &verifier}
	for _, c := range []rota.Command{
		user, &rota.All{Meta: rota.NewMeta(""), Members: []rota.Command{user}}, put, &rota.RevokeToken{Meta: rota.NewMeta(""), TokenID: id},
		&rota.GrantPrivileges{Meta: rota.NewMeta(""), To: []string{"viewer"}, Privileges: []rota.Privilege{rota.AlterJob}, Job: "job"},
	} {
		reply, err := rota.Do[rota.Reply](ctx, admin, c)
		if err != nil {
			t.Fatal(err)
		}
		if text := string(rota.EncodeSpec(reply)); strings.Contains(text, "SCRAM") || strings.Contains(text, access.HashToken(token)) {
			t.Errorf("the reply of %s has a credential: %s", c.Verb(), text)
		}
	}
	granted, err := rota.Do[*rota.Granted](ctx, s.as("owner"), &rota.GrantPrivileges{
		Meta: rota.NewMeta(""), To: []string{"viewer"}, Privileges: []rota.Privilege{rota.DropJob}, Job: "job",
	})
	if err != nil {
		t.Fatal(err)
	}
	if p := granted.Principals[0]; p.Name != "viewer" || len(p.Spec.Grants) != 0 || p.Spec.Verifier != "" {
		t.Errorf("an owner that grants a privilege learns %+v", p)
	}
}

// TestCommandSentAgainShowsNoDefinitionOfOthers sends the command of an owner again after another user has recreated the
// definition.
func TestCommandSentAgainShowsNoDefinitionOfOthers(t *testing.T) {
	s := newMatrix(t)
	alter := &rota.PutTemplate{Meta: rota.NewMeta(""), Name: "job", Spec: rota.TemplateSpec{Type: "sql", Params: []byte(`{"statement":"SELECT 2"}`)}}
	owner := s.as("owner")
	if code := verdict(owner, alter); code != "" {
		t.Fatal(code)
	}
	s.must(&rota.Drop{Meta: rota.NewMeta("admin"), Name: "job"})
	s.define("job", "creator")
	if code := verdict(owner, alter); code != rota.NotFound && code != rota.Denied {
		t.Errorf("the former owner is shown the new template: %q", code)
	}
}

// unwatched is a store as another process sees it: without the events of this one.
type unwatched struct{ rota.Store }

func (unwatched) Watch(func([]rota.Event)) func() { return func() {} }

// TestRevokedRightEndsOnOtherNodesWithinTwoSeconds uses the directory of another process.
func TestRevokedRightEndsOnOtherNodesWithinTwoSeconds(t *testing.T) {
	ctx := context.Background()
	s := newMatrix(t)
	other := access.NewDirectory(unwatched{s.store}, clock)
	defer other.Close()
	guard := other.Guard(s.as("viewer").Identity())
	if _, err := guard.Schedule(ctx, "job"); err != nil {
		t.Fatal(err)
	}
	s.revoke("viewer", rota.ViewJobHistory, "job")
	revoked := time.Now()
	for {
		begun := time.Since(revoked) // a slow machine may delay the answer, but not the decision
		_, err := guard.Schedule(ctx, "job")
		switch {
		case rota.CodeOf(err) == rota.NotFound:
			return
		case err != nil || begun > 2*time.Second:
			t.Fatalf("a call that began %v after the revocation: %v", begun, err)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// TestDenialNamesPrivilegeAndWhoGrantsIt reads the error as a user would.
func TestDenialNamesPrivilegeAndWhoGrantsIt(t *testing.T) {
	s := newMatrix(t)
	_, err := rota.Do[rota.Reply](context.Background(), s.as("viewer"), &rota.Trigger{Meta: rota.NewMeta(""), Schedule: "job"})
	const want = "trigger: user viewer has no EXECUTE JOB on job; its owner owner or an administrator can grant it: GRANT EXECUTE JOB ON JOB job TO viewer"
	var e *rota.Error
	if !errors.As(err, &e) || e.Error() != want {
		t.Errorf("%v\nwant %s", err, want)
	}
}

// TestDenialsAreCountedInTheAudit writes one entry for many denials.
func TestDenialsAreCountedInTheAudit(t *testing.T) {
	s := newMatrix(t)
	guard := s.as("viewer")
	for range 5 {
		verdict(guard, &rota.Trigger{Meta: rota.NewMeta(""), Schedule: "job"})
	}
	s.directory.LoginFailed("eve", "sql from 192.0.2.7")
	s.directory.LoggedIn(guard.Identity(), "sql from 192.0.2.8")
	ctx, stop := context.WithCancel(context.Background())
	stop()
	s.directory.Run(ctx, func(err error) { t.Error(err) })
	page, err := s.store.Audit(context.Background(), rota.AuditQuery{Acts: []string{rota.AuditAccessDenied, rota.AuditLogin, rota.AuditLoginFailed}})
	if err != nil || len(page.Entries) != 3 {
		t.Fatal(page.Entries, err)
	}
	texts := ""
	for _, e := range page.Entries {
		texts += e.Act + " " + e.Actor + " " + e.Outcome + " " + e.Detail + "\n"
	}
	for _, part := range []string{"ACCESS_DENIED viewer DENIED 5 times", "LOGIN viewer OK", "LOGIN_FAILED eve DENIED"} {
		if !strings.Contains(texts, part) {
			t.Errorf("the audit has no %q:\n%s", part, texts)
		}
	}
}
