package sqlite

import (
	"testing"

	"github.com/rotajobs/rota"
)

// The rules word the refusal, so one store shows it.
func TestCycleOfRolesIsNamed(t *testing.T) {
	s := openTest(t, Config{})
	role := func(name string) rota.Command {
		return &rota.PutPrincipal{Meta: rota.NewMeta("ada"), Name: name, Kind: rota.KindRole}
	}
	grant := func(role, to string) rota.Command {
		return &rota.GrantPrivileges{Meta: rota.NewMeta("ada"), To: []string{to}, Role: role}
	}
	results, err := s.Apply(t.Context(), rota.Batch{Now: noon, Commands: []rota.Command{
		role("a"), role("b"), role("c"), grant("a", "b"), grant("b", "c"), grant("c", "a"),
	}})
	must(t, err)
	want := "grant_privileges: role: would make role a a member of itself: a -> c -> b -> a; revoke one of these memberships first"
	if err := results[5].Err; err == nil || err.Error() != want {
		t.Errorf("refused with %v, want %s", err, want)
	}
}
