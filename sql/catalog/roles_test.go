package catalog

import (
	"fmt"
	"testing"
)

// TestRolesKeepTheirNumbers checks that numbers depend on names, also if others come and go.
func TestRolesKeepTheirNumbers(t *testing.T) {
	c := New(subject)
	few, many := c.NewRoles([]Role{{Name: "ada"}}), []Role{{Name: "ada"}}
	for i := range 2000 {
		many = append(many, Role{Name: fmt.Sprintf("u%d", i)})
	}
	all := c.NewRoles(many)
	if all.byName["ada"].oid != few.byName["ada"].oid || all.byName["postgres"].oid != ownerRole {
		t.Error("a number depends on other roles")
	}
	if len(all.byOID) != len(many)+1 {
		t.Errorf("%d roles have %d numbers", len(many)+1, len(all.byOID))
	}
	for oid := range all.byOID {
		if oid != ownerRole && (oid < roleOIDMin || oid > 1<<31-1) {
			t.Errorf("the number %d is out of range", oid)
		}
	}
}

// TestHasRoleFollowsMemberships covers nested roles, a cycle, which a damaged store may have, and superusers.
func TestHasRoleFollowsMemberships(t *testing.T) {
	c := New(subject)
	in := func(roles ...string) (list []Membership) {
		for _, r := range roles {
			list = append(list, Membership{Role: r})
		}
		return list
	}
	roles := c.NewRoles([]Role{
		{Name: "ada", Login: true, In: in("dev")},
		{Name: "dev", In: in("ops")},
		{Name: "ops", In: in("dev")},
		{Name: "eve", Login: true},
		{Name: "root", Login: true, Super: true},
	})
	env := &Env{User: "ada", Roles: func() (*Roles, error) { return roles, nil }}
	for _, row := range []struct {
		args []any
		want any
	}{
		{[]any{"ops", "MEMBER"}, int64(1)},
		{[]any{"ada", "ops", "usage"}, int64(1)},
		{[]any{"eve", "ops", "MEMBER"}, int64(0)},
		{[]any{"eve", "eve", "MEMBER"}, int64(1)},
		{[]any{"root", "ops", "MEMBER WITH ADMIN OPTION"}, int64(1)},
		{[]any{"ada", "ops", "MEMBER WITH ADMIN OPTION"}, int64(0)},
		{[]any{"ada", "eve", "MEMBER"}, int64(0)},
		{[]any{roles.byName["ada"].oid, roles.byName["dev"].oid, "MEMBER"}, int64(1)},
	} {
		if got, err := hasRole(env, c, row.args); err != nil || got != row.want {
			t.Errorf("pg_has_role%v: %v, %v, want %v", row.args, got, err, row.want)
		}
	}
	for _, args := range [][]any{{"nobody", "ops", "MEMBER"}, {"ada", "nobody", "MEMBER"}, {"ada", "ops", "SELECT"}, {int64(99), "ops", "MEMBER"}} {
		if got, err := hasRole(env, c, args); err == nil {
			t.Errorf("pg_has_role%v: %v", args, got)
		}
	}
}
