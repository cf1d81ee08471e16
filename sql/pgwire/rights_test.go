package pgwire

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/access"
	"github.com/rotajobs/rota/store/sqlite"
)

// withUsers lets the users of a real store log in with the test password. The function applies a command to the store.
func withUsers(t *testing.T, names ...string) (change func(*Config), apply func(rota.Command)) {
	t.Helper()
	store, err := sqlite.Open(filepath.Join(t.TempDir(), "rota.db"))
	if err != nil {
		t.Fatal(err)
	}
	directory := access.NewDirectory(store, nil)
	t.Cleanup(func() {
		directory.Close()
		_ = store.Close()
	})
	apply = func(c rota.Command) {
		t.Helper()
		if _, err := rota.Do[rota.Reply](context.Background(), store, c); err != nil {
			t.Fatal(err)
		}
		directory.Invalidate()
	}
	secret := verifier.String()
	for _, name := range names {
		apply(&rota.PutPrincipal{Meta: rota.NewMeta("admin"), Name: name, Kind: rota.KindUser, Mode: rota.PutCreate, Verifier: &secret})
	}
	return func(c *Config) {
		c.Rights = directory.Stamp
		c.Verifier = func(ctx context.Context, user string) (access.Verifier, access.Identity, error) {
			if user == rota.AdminUser {
				return verifier, access.Admin(), nil
			}
			return directory.Credentials(ctx, user)
		}
	}, apply
}

// suspend runs a statement up to its second row, and leaves the portal open.
func (c *client) suspend() []string {
	return c.exchange(&pgproto3.Query{String: "begin"}, &pgproto3.Parse{Query: "rows 5"}, &pgproto3.Bind{DestinationPortal: "p"},
		&pgproto3.Execute{Portal: "p", MaxRows: 2}, &pgproto3.Sync{})
}

func (c *client) resume() []string {
	return c.exchange(&pgproto3.Execute{Portal: "p", MaxRows: 2}, &pgproto3.Sync{})
}

func TestSuspendedPortalEndsWhenTheRightsChange(t *testing.T) {
	users, apply := withUsers(t, "bob", "eve")
	grant := func(revoke bool) {
		apply(&rota.GrantPrivileges{Meta: rota.NewMeta("admin"), To: []string{"bob"}, Privileges: []rota.Privilege{rota.ViewJobHistory}, Revoke: revoke})
	}
	grant(false)
	s := newTestServer(t, users)
	c := s.clientOf("bob")
	c.suspend()
	apply(&rota.DropPrincipal{Meta: rota.NewMeta("admin"), Name: "eve", Kind: rota.KindUser})
	if got := strings.Join(c.resume(), " "); !strings.Contains(got, "PortalSuspended") {
		t.Errorf("the drop of another user closed the portal: %s", got)
	}
	grant(true)
	if got := strings.Join(c.resume(), " "); strings.Contains(got, "DataRow") || !strings.Contains(got, "ERROR 55000 portal \"p\" is closed") {
		t.Errorf("after the revocation: %s", got)
	}
}

func TestSuspendedPortalOfADroppedUserEnds(t *testing.T) {
	users, apply := withUsers(t, "bob")
	c := newTestServer(t, users).clientOf("bob")
	c.suspend()
	apply(&rota.DropPrincipal{Meta: rota.NewMeta("admin"), Name: "bob", Kind: rota.KindUser})
	if got := strings.Join(c.resume(), " "); strings.Contains(got, "DataRow") || !strings.Contains(got, "FATAL 28000 terminating connection: user bob was dropped") {
		t.Error(got)
	}
}

func TestIdleConnectionOfADroppedUserIsClosed(t *testing.T) {
	users, apply := withUsers(t, "bob")
	s := newTestServer(t, users, func(c *Config) { c.CheckEvery = 5 * time.Millisecond })
	c, admin := s.clientOf("bob"), s.client()
	apply(&rota.DropPrincipal{Meta: rota.NewMeta("admin"), Name: "bob", Kind: rota.KindUser})
	wantLines(t, c.readToEnd(), []string{"FATAL 28000 terminating connection: user bob was dropped; log in again", "closed"})
	wantLines(t, admin.query("begin"), []string{"CommandComplete BEGIN", "ReadyForQuery T"})
}

func TestOneUserCannotTakeAllConnections(t *testing.T) {
	s := newTestServer(t, func(c *Config) {
		c.Verifier = passwordOf("admin", "bob", "eve")
		c.ConnectionsMax, c.ConnectionsPerUserMax, c.ConnectionsReserved = 4, 2, 1
	})
	refused := func(user, part string) {
		t.Helper()
		_, err := pgconn.Connect(context.Background(), strings.Replace(s.url(""), "admin", user, 1))
		if codeOf(err) != "53300" || !strings.Contains(err.Error(), part) {
			t.Errorf("%s: %v", user, err)
		}
	}
	s.clientOf("bob")
	s.clientOf("bob")
	refused("bob", "too many connections for user")
	s.clientOf("eve")
	refused("eve", "too many clients") // the last one is for admin
	s.client()
	refused("admin", "too many clients")
}
