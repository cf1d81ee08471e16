package access_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/access"
)

// recorded writes what was counted, and returns the security events of the audit as lines.
func (s *site) recorded() (lines []string) {
	s.t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	stop()
	s.directory.Run(ctx, func(err error) { s.t.Error(err) })
	q := rota.AuditQuery{Acts: []string{rota.AuditAccessDenied, rota.AuditLogin, rota.AuditLoginFailed}, Limit: rota.PageMax}
	for {
		page, err := s.store.Audit(context.Background(), q)
		if err != nil {
			s.t.Fatal(err)
		}
		for _, e := range page.Entries {
			lines = append(lines, e.Act+" "+e.Actor+": "+e.Detail)
		}
		if !page.More {
			return lines
		}
		q.Before = page.Next
	}
}

func count(lines []string, part string) (n int) {
	for _, line := range lines {
		if strings.Contains(line, part) {
			n++
		}
	}
	return n
}

// A stranger chooses the name of a failed login. No name may keep the other events from the audit.
func TestNameOfAFailedLoginCannotStopTheAudit(t *testing.T) {
	s := newSite(t)
	for _, name := range []string{"a\x00b", "\xff\xfe", "rota_\xff\xfe_x", strings.Repeat("\U0001F600", 64), strings.Repeat("x", 1<<20), ""} {
		s.directory.LoginFailed(name, "http from 192.0.2.7")
	}
	s.directory.LoginFailed("eve", "http from \x00\xff"+strings.Repeat("y", 1<<16))
	s.directory.LoggedIn(access.Admin(), "http from 192.0.2.8")
	lines := s.recorded()
	if count(lines, "LOGIN admin: http from 192.0.2.8") != 1 || count(lines, "LOGIN_FAILED") != 7 || count(lines, "LOGIN_FAILED a\uFFFDb:") != 1 {
		t.Errorf("%.80q", lines)
	}
}

// A flood of failed logins writes few entries, and hides neither the logins nor the denials of users, nor the failed logins
// from elsewhere.
func TestFloodOfFailedLoginsHidesNothingElse(t *testing.T) {
	s := newMatrix(t)
	for n := range 5000 {
		s.directory.LoginFailed(fmt.Sprintf("rota_%012d", n), "http from 192.0.2.7")
		s.directory.LoginFailed(fmt.Sprintf("user%d", n), "http from 192.0.2.7")
	}
	guard := s.as("viewer")
	verdict(guard, &rota.Trigger{Meta: rota.NewMeta(""), Schedule: "job"})
	s.directory.LoggedIn(guard.Identity(), "sql from 192.0.2.8")
	s.directory.LoginFailed("viewer", "sql from 192.0.2.9")
	lines := s.recorded()
	for part, want := range map[string]int{
		"LOGIN viewer: sql from 192.0.2.8": 1, "ACCESS_DENIED viewer: user viewer has no EXECUTE JOB on job": 1,
		"LOGIN_FAILED viewer: sql from 192.0.2.9": 1, "LOGIN_FAILED rota_unknown: 5000 times; http from 192.0.2.7": 1,
		"4901 times; http from 192.0.2.7; others": 1, "LOGIN_FAILED": 102,
	} {
		if got := count(lines, part); got != want {
			t.Errorf("the audit has %d of %q, want %d", got, part, want)
		}
	}
}

// An attacker with many addresses writes a bounded number of entries.
func TestFailedLoginsFromManyNetworksAreBounded(t *testing.T) {
	s := newSite(t)
	for n := range 5000 {
		s.directory.LoginFailed("bob", fmt.Sprintf("http from 10.0.%d.%d", n>>8, n&255))
	}
	if lines := s.recorded(); len(lines) != 1001 || count(lines, "4000 times; others") != 1 {
		t.Errorf("the audit has %d entries", len(lines))
	}
}

// One user that is denied many different things hides no denial of another user.
func TestManyDenialsOfOneUserHideNoneOfAnother(t *testing.T) {
	s := newMatrix(t)
	mallory, viewer := s.as("viewer"), s.as("nobody")
	for n := range 300 {
		s.directory.LoggedIn(mallory.Identity(), fmt.Sprintf("http from 10.0.%d.%d", n>>8, n&255))
	}
	s.directory.LoggedIn(viewer.Identity(), "http from 192.0.2.8")
	lines := s.recorded()
	if count(lines, "LOGIN nobody: http from 192.0.2.8") != 1 || count(lines, "LOGIN viewer: 200 times; others") != 1 || len(lines) != 102 {
		t.Errorf("the audit has %d entries", len(lines))
	}
}

// The failed login of a token that exists names the token.
func TestFailedLoginOfATokenNamesIt(t *testing.T) {
	s := newMatrix(t)
	id := s.token("viewer", rota.ScopeRead).Identity().Token
	if _, err := s.directory.ByToken(context.Background(), "rota_"+id+"_wrong"); rota.CodeOf(err) != rota.Denied {
		t.Fatal(err)
	}
	s.directory.LoginFailed("rota_"+id, "http from 192.0.2.7")
	if lines := s.recorded(); count(lines, "LOGIN_FAILED rota_"+id+": http") != 1 {
		t.Error(lines)
	}
}

// After a theft an administrator needs to know which token was used: logins and denials show its public name.
func TestAuditNamesTheTokenOfALogin(t *testing.T) {
	s := newMatrix(t)
	guard := s.token("viewer", rota.ScopeRead)
	id := guard.Identity().Token
	s.directory.LoggedIn(guard.Identity(), "http from 192.0.2.8")
	verdict(guard, &rota.Trigger{Meta: rota.NewMeta(""), Schedule: "job"})
	lines := s.recorded()
	for _, want := range []string{
		"LOGIN viewer: http from 192.0.2.8 with token rota_" + id, "ACCESS_DENIED viewer: token rota_" + id + " has the scope read, which does not allow this",
	} {
		if !slices.Contains(lines, want) {
			t.Errorf("the audit has no %q:\n%s", want, strings.Join(lines, "\n"))
		}
	}
}

// Preparing a password of a megabyte takes seconds, so nobody may have one that is longer than PasswordMax.
func TestPasswordThatNobodyCanHaveIsNotChecked(t *testing.T) {
	s := newSite(t)
	long := strings.Repeat("x", access.PasswordMax+1)
	verifier := access.NewVerifier(long).String()
	s.must(&rota.PutPrincipal{Meta: rota.NewMeta("admin"), Name: "bob", Kind: rota.KindUser, Mode: rota.PutCreate, Verifier: &verifier})
	_, refused := s.directory.ByPassword(context.Background(), "bob", long)
	_, wrong := s.directory.ByPassword(context.Background(), "bob", "wrong")
	if rota.CodeOf(refused) != rota.Denied || refused.Error() != wrong.Error() {
		t.Errorf("%v; a wrong password: %v", refused, wrong)
	}
}

// The challenge of an unknown user is the same at all nodes and after a restart, as that of a known user is.
func TestChallengeOfAnUnknownUserFollowsFromTheStore(t *testing.T) {
	one := newSite(t)
	challenge := func(d *access.Directory, name string) string {
		v, identity, err := d.Credentials(context.Background(), name)
		if err != nil || identity.User != "" {
			t.Fatal(identity, err)
		}
		return v.String()
	}
	restarted := access.NewDirectory(one.store, clock)
	defer restarted.Close()
	for _, name := range []string{"eve", "rota_k7m2p9qxw4ht"} {
		first := challenge(one.directory, name)
		if challenge(restarted, name) != first {
			t.Errorf("%s is asked something else after a restart", name)
		}
	}
}

// A process that is killed within a minute after a login loses neither the login nor its place, only its repeats. The
// repeats and the logins from many places stay few entries.
func TestLoginIsWrittenAtOnce(t *testing.T) {
	s := newMatrix(t)
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { s.directory.Run(ctx, func(err error) { t.Error(err) }) })
	logins := func() int {
		page, err := s.store.Audit(t.Context(), rota.AuditQuery{Acts: []string{rota.AuditLogin}, Limit: rota.PageMax})
		if err != nil {
			t.Fatal(err)
		}
		return len(page.Entries)
	}
	wait := func(want int) {
		t.Helper()
		for began := time.Now(); logins() < want; time.Sleep(20 * time.Millisecond) {
			if time.Since(began) > 5*time.Second {
				t.Fatalf("the audit has %d logins, want %d", logins(), want)
			}
		}
	}
	user := s.as("viewer").Identity()
	s.directory.LoggedIn(user, "http from 192.0.2.7")
	wait(1)
	for range 50 {
		s.directory.LoggedIn(user, "http from 192.0.2.7")
	}
	s.directory.LoggedIn(user, "sql from 192.0.2.7")
	wait(2)
	if n := logins(); n != 2 {
		t.Errorf("the audit has %d logins, want 2: repeats are counted", n)
	}
	for n := range 300 {
		s.directory.LoggedIn(user, fmt.Sprintf("http from 10.0.%d.%d", n>>8, n&255))
	}
	wait(100)
	stop()
	running.Wait()
	lines := s.recorded()
	if count(lines, "LOGIN viewer: 50 times; http from 192.0.2.7") != 1 || count(lines, "LOGIN viewer: 202 times; others") != 1 || len(lines) != 102 {
		t.Errorf("the audit has %d entries: %.400q", len(lines), lines)
	}
}
