package access_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/access"
)

// TestSessionEndsWhenThePasswordChanges: a thief of a session loses it with the password. Tokens that the user created
// on purpose stay.
func TestSessionEndsWhenThePasswordChanges(t *testing.T) {
	s := newSite(t)
	setPassword := func(password string) {
		verifier := access.NewVerifier(password).String()
		s.must(&rota.PutPrincipal{Meta: rota.NewMeta("admin"), Name: "bob", Kind: rota.KindUser, Verifier: &verifier})
	}
	setPassword("correct horse battery")
	session, token := s.token("bob", rota.ScopeSession), s.token("bob", rota.ScopeWrite)
	s.grant("bob", rota.ExecuteJob, "")
	if err := session.Valid(context.Background()); err != nil {
		t.Errorf("a grant ends the session: %v", err)
	}
	setPassword("another horse battery")
	if err := session.Valid(context.Background()); !access.Ended(err) {
		t.Errorf("the session of the old password is valid: %v", err)
	}
	if err := token.Valid(context.Background()); err != nil {
		t.Errorf("a token ends with the password: %v", err)
	}
	if err := s.token("bob", rota.ScopeSession).Valid(context.Background()); err != nil {
		t.Errorf("a new session: %v", err)
	}
}

// TestOwnersLeaveRoomForGrants: the grants of a principal are one row, which an owner of many definitions must not fill.
func TestOwnersLeaveRoomForGrants(t *testing.T) {
	s := newSite(t)
	privileges := []rota.Privilege{rota.AlterJob, rota.DropJob, rota.ExecuteJob, rota.ViewJobHistory}
	s.setUp(func() {
		s.users("mallory", "bob", "carol")
		for n := range 126 {
			name := fmt.Sprintf("job%d", n)
			s.must(&rota.PutTemplate{Meta: rota.NewMeta("mallory"), Name: name, Spec: rota.TemplateSpec{Type: "sql"}})
			if n < 125 {
				s.must(&rota.GrantPrivileges{Meta: rota.NewMeta("mallory"), To: []string{"carol"}, Privileges: privileges, Job: name})
			}
		}
		s.must(&rota.PutTemplate{Meta: rota.NewMeta("bob"), Name: "bobs", Spec: rota.TemplateSpec{Type: "sql"}})
	})
	grant := func(job, to string) *rota.GrantPrivileges {
		return &rota.GrantPrivileges{Meta: rota.NewMeta(""), To: []string{to}, Privileges: privileges[:1], Job: job}
	}
	for _, one := range []struct {
		user, job, to string
		want          rota.Code
	}{
		{"mallory", "job125", "carol", rota.Denied}, {"mallory", "job125", "bob", ""}, {"bob", "bobs", "carol", ""}, {"admin", "job125", "carol", ""},
	} {
		if got := verdict(s.as(one.user), grant(one.job, one.to)); got != one.want {
			t.Errorf("%s grants on %s to %s: %q, want %q", one.user, one.job, one.to, got, one.want)
		}
	}
	revoke := grant("job1", "carol")
	revoke.Revoke = true
	if got := verdict(s.as("mallory"), revoke); got != "" {
		t.Errorf("mallory cannot revoke: %s", got)
	}
}
