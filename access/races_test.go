package access_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/access"
)

// TestRevokeBesideUse revokes a grant, a membership, a token and a user while they are in use. A command that begins after the
// revocation was answered is refused.
func TestRevokeBesideUse(t *testing.T) {
	for name, test := range map[string]struct {
		guard  func(s *site) *access.Guard
		revoke func(guard *access.Guard) rota.Command
	}{
		"a grant": {func(s *site) *access.Guard { return s.as("executor") }, func(*access.Guard) rota.Command {
			return &rota.GrantPrivileges{Meta: rota.NewMeta(""), To: []string{"executor"}, Privileges: []rota.Privilege{rota.ExecuteJob}, Job: "job", Revoke: true}
		}},
		"a grant on all": {func(s *site) *access.Guard { return s.as("execute-all") }, func(*access.Guard) rota.Command {
			return &rota.GrantPrivileges{Meta: rota.NewMeta(""), To: []string{"execute-all"}, Privileges: []rota.Privilege{rota.ExecuteJob}, Revoke: true}
		}},
		"a membership": {func(s *site) *access.Guard {
			s.role("staff", "nobody")
			s.grant("staff", rota.ExecuteJob, "job")
			return s.as("nobody")
		}, func(*access.Guard) rota.Command {
			return &rota.GrantPrivileges{Meta: rota.NewMeta(""), To: []string{"nobody"}, Role: "staff", Revoke: true}
		}},
		"a token": {func(s *site) *access.Guard { return s.token("executor", rota.ScopeWrite) }, func(guard *access.Guard) rota.Command {
			return &rota.RevokeToken{Meta: rota.NewMeta(""), TokenID: guard.Identity().Token}
		}},
		"a user": {func(s *site) *access.Guard { return s.as("executor") }, func(*access.Guard) rota.Command {
			return &rota.DropPrincipal{Meta: rota.NewMeta(""), Name: "executor", Kind: rota.KindUser}
		}},
	} {
		s := newMatrix(t)
		guard := test.guard(s)
		var revoked atomic.Bool
		var used atomic.Int64
		var users sync.WaitGroup
		for range 4 {
			users.Go(func() {
				for {
					late := revoked.Load()
					code := verdict(guard, &rota.Trigger{Meta: rota.NewMeta(""), Schedule: "job"})
					if code == "" {
						used.Add(1)
					}
					if late && code == "" || !late && code != "" && code != rota.Denied && code != rota.NotFound {
						t.Errorf("%s: after the revocation: %v, the command: %q", name, late, code)
					}
					if late || code != "" {
						return
					}
				}
			})
		}
		for used.Load() < 8 { // the users are at work
			if t.Failed() {
				break
			}
			_, _ = guard.Schedule(context.Background(), "job")
		}
		if _, err := rota.Do[rota.Reply](context.Background(), s.as("admin"), test.revoke(guard)); err != nil {
			t.Error(err)
		}
		revoked.Store(true)
		users.Wait()
	}
}

// TestRecreateBesideAlter lets the owner of a definition alter it while an administrator drops it and another user creates one of
// the same name. The new one is never altered.
func TestRecreateBesideAlter(t *testing.T) {
	ctx := context.Background()
	s := newMatrix(t)
	owner, creator := s.as("owner"), s.as("creator")
	for round := range 10 {
		var alter sync.WaitGroup
		stop, begun := make(chan struct{}), make(chan struct{})
		alter.Go(func() {
			for n := 0; ; n++ {
				if n == 1 {
					close(begun)
				}
				select {
				case <-stop:
					return
				default:
				}
				_ = verdict(owner, &rota.PutTemplate{
					Meta: rota.NewMeta(""), Name: "job", Spec: rota.TemplateSpec{Type: "sql", Params: fmt.Appendf(nil, `{"statement":"SELECT 'by owner %d'"}`, n)},
				})
			}
		})
		<-begun
		s.must(&rota.Drop{Meta: rota.NewMeta("admin"), Name: "job"})
		again := &rota.All{Meta: rota.NewMeta(""), Members: []rota.Command{
			&rota.PutTemplate{Meta: rota.NewMeta(""), Name: "job", Spec: rota.TemplateSpec{Type: "sql", Params: []byte(`{"statement":"SELECT 'by creator'"}`)}},
			&rota.Unarchive{Meta: rota.NewMeta(""), Name: "job"},
		}}
		if _, err := rota.Do[rota.Reply](ctx, creator, again); err != nil {
			t.Errorf("round %d: the new definition is refused: %v", round, err)
		}
		close(stop)
		alter.Wait()
		template, err := s.store.Template(ctx, "job")
		if err != nil || template.Owner != "creator" || !strings.Contains(string(template.Spec.Params), "by creator") {
			t.Fatalf("round %d: the owner of the dropped definition altered the new one: %+v, %v", round, template, err)
		}
		s.must(&rota.Archive{Meta: rota.NewMeta("admin"), Name: "job"}) // the next round begins with a definition of the owner
		s.must(&rota.SetOwner{Meta: rota.NewMeta("admin"), Name: "job", Owner: "owner"})
		s.define("job", "owner")
	}
}
