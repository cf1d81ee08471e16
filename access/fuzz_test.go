package access_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/access"
)

// FuzzToken logs in with any text. Only the token itself is accepted, and the id in a text is found as the SQL port and the
// audit find it.
func FuzzToken(f *testing.F) {
	s := newSite(f)
	s.users("ada")
	id, token := access.NewToken()
	s.must(&rota.PutToken{Meta: rota.NewMeta("admin"), TokenID: id, User: "ada", Scope: rota.ScopeWrite, Hash: access.HashToken(token)})
	for _, text := range []string{
		token, token + "x", token[:len(token)-1], strings.ToUpper(token), strings.ToLower(token), " " + token, token + "\n", token + "\x00",
		"", "rota_", "rota__", "rota_" + id, "rota_" + id + "_", "rota_" + id + "_" + strings.Repeat("A", 32), "rota_" + id + "_" + id + "_" + id,
		"rota_\xff_\xff", "rota_" + strings.Repeat("a", 100_000) + "_b", "rota_ıd_secret", "ROTA_" + id + "_x",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		who, err := s.directory.ByToken(context.Background(), text)
		switch {
		case text == token && (err != nil || who.User != "ada" || who.Token != id):
			t.Errorf("the token logs in as %+v, %v", who, err)
		case text != token && rota.CodeOf(err) != rota.Denied:
			t.Errorf("%.100q logs in as %+v, %v", text, who, err)
		case text != token && strings.Contains(err.Error(), token):
			t.Errorf("the refusal of %.100q has the token: %v", text, err)
		}
		found, is := access.TokenID(text)
		if is && (!strings.HasPrefix(text, "rota_"+found+"_") || strings.Count(text, "_") != 2 || len(found) > 64) {
			t.Errorf("the id of %.100q is %q", text, found)
		}
	})
}

// FuzzGrants applies any sequence of grants, revocations, memberships and recreations, and compares what users may do with a
// plain account of it.
func FuzzGrants(f *testing.F) {
	f.Add([]byte{0, 0, 0, 2, 1, 2})
	f.Add([]byte{4, 0, 2, 0, 2, 0, 6, 2, 0, 0, 2, 1})          // a member of a role that is recreated
	f.Add([]byte{0, 0, 0, 7, 0, 0, 0, 1, 0, 2, 0, 0})          // a grant on a job that is recreated
	f.Add([]byte{4, 0, 2, 4, 2, 3, 0, 3, 7, 4, 3, 2, 2, 3, 7}) // nested roles, and a cycle
	f.Add([]byte{0, 0, 5, 6, 0, 0, 0, 1, 4, 5, 0, 2})          // a user that is recreated
	site, runs := newSite(f), 0
	f.Fuzz(func(t *testing.T, script []byte) {
		s := *site // a new store for each run would take most of the time
		s.t = t
		runs++
		a := newAccount(&s, fmt.Sprint(runs))
		for len(script) >= 3 && a.steps < 20 {
			a.step(script[0], script[1], script[2])
			script = script[3:]
		}
		a.compare()
		a.clear()
	})
}

// account keeps what was granted, by name and by generation: a recreated object has a new one.
type account struct {
	s      *site
	steps  int
	born   map[string]int // generation of each principal and job
	grants map[heldGrant]bool
	member map[[2]string][2]int // role and member: their generations

	users, roles []string
	jobs         []string // the last one stands for all
}

type heldGrant struct {
	to      string
	toBorn  int
	p       rota.Privilege
	job     string
	jobBorn int
}

var fuzzPrivileges = []rota.Privilege{rota.AlterJob, rota.ExecuteJob, rota.ViewJobHistory}

// newAccount creates two users, three roles and two jobs, whose names end in a text.
func newAccount(s *site, end string) *account {
	a := &account{
		s: s, born: map[string]int{}, grants: map[heldGrant]bool{}, member: map[[2]string][2]int{},
		users: []string{"ada" + end, "bob" + end}, roles: []string{"r" + end, "s" + end, "t" + end}, jobs: []string{"x" + end, "y" + end, ""},
	}
	s.setUp(func() {
		s.users(a.users...)
		for _, role := range a.roles {
			s.role(role)
		}
	})
	for _, job := range a.jobs[:2] {
		s.define(job, "admin")
	}
	return a
}

// clear drops the users and roles, so that later runs do not read them.
func (a *account) clear() {
	a.s.setUp(func() {
		for _, name := range a.users {
			a.s.must(&rota.DropPrincipal{Meta: rota.NewMeta("admin"), Name: name, Kind: rota.KindUser})
		}
		for _, name := range a.roles {
			a.s.must(&rota.DropPrincipal{Meta: rota.NewMeta("admin"), Name: name, Kind: rota.KindRole})
		}
	})
}

// step decodes and applies one change.
func (a *account) step(kind, first, second byte) {
	a.steps++
	to := slices.Concat(a.users, a.roles)[int(first)%5]
	job, p := a.jobs[int(second)%3], fuzzPrivileges[int(second/4)%len(fuzzPrivileges)]
	role := a.roles[int(second)%3]
	grant := heldGrant{to, a.born[to], p, job, a.born["job "+job]}
	switch kind % 8 {
	case 0, 1, 2:
		a.s.grant(to, p, job)
		a.grants[grant] = true
	case 3:
		a.s.revoke(to, p, job)
		delete(a.grants, grant)
	case 4:
		a.join(role, to)
	case 5:
		a.s.must(&rota.GrantPrivileges{Meta: rota.NewMeta("admin"), To: []string{to}, Role: role, Revoke: true})
		delete(a.member, [2]string{role, to})
	case 6:
		a.recreate(to)
	case 7:
		if job != "" {
			a.s.must(&rota.Drop{Meta: rota.NewMeta("admin"), Name: job})
			a.s.define(job, "admin")
			a.born["job "+job]++
		}
	}
}

// join makes a principal a member of a role, unless that closes a cycle, which the store has to refuse.
func (a *account) join(role, to string) {
	c := &rota.GrantPrivileges{Meta: rota.NewMeta("admin"), To: []string{to}, Role: role}
	_, err := rota.Do[rota.Reply](context.Background(), a.s.store, c)
	a.s.directory.Invalidate()
	cycle := a.reached(role)[to]
	if cycle != (rota.CodeOf(err) == rota.Invalid) || !cycle && err != nil {
		a.s.t.Errorf("%s becomes a member of %s: %v, a cycle: %v", to, role, err, cycle)
	}
	if err == nil {
		a.member[[2]string{role, to}] = [2]int{a.born[role], a.born[to]}
	}
}

func (a *account) recreate(name string) {
	kind := rota.KindUser
	if slices.Contains(a.roles, name) {
		kind = rota.KindRole
	}
	a.s.must(&rota.DropPrincipal{Meta: rota.NewMeta("admin"), Name: name, Kind: kind})
	a.s.must(&rota.PutPrincipal{Meta: rota.NewMeta("admin"), Name: name, Kind: kind, Mode: rota.PutCreate})
	a.born[name]++
}

// reached returns a principal and all roles that it is a member of.
func (a *account) reached(name string) map[string]bool {
	found := map[string]bool{name: true}
	for before := 0; before != len(found); {
		before = len(found)
		for pair, at := range a.member {
			if found[pair[1]] && at == [2]int{a.born[pair[0]], a.born[pair[1]]} {
				found[pair[0]] = true
			}
		}
	}
	return found
}

// compare asks the Guard of each user.
func (a *account) compare() {
	ctx := context.Background()
	for _, user := range a.users {
		guard, names := a.s.as(user), a.reached(user)
		for _, job := range a.jobs[:2] {
			held := map[rota.Privilege]bool{}
			for g := range maps.Keys(a.grants) {
				if names[g.to] && g.toBorn == a.born[g.to] && (g.job == "" || g.job == job && g.jobBorn == a.born["job "+job]) {
					held[g.p] = true
				}
			}
			_, err := guard.Schedule(ctx, job)
			if sees := len(held) > 0; sees != (err == nil) || !sees && rota.CodeOf(err) != rota.NotFound {
				a.s.t.Errorf("%s sees %s: %v, held: %v", user, job, err, held)
			}
			want := rota.Code("")
			switch {
			case len(held) == 0:
				want = rota.NotFound
			case !held[rota.ExecuteJob]:
				want = rota.Denied
			}
			if got := verdict(guard, &rota.Trigger{Meta: rota.NewMeta(""), Schedule: job}); got != want {
				a.s.t.Errorf("%s triggers %s: %q, want %q, held: %v", user, job, got, want, held)
			}
		}
	}
}
