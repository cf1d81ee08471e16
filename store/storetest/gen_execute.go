package storetest

import (
	"context"

	"github.com/rotajobs/rota"
)

// Schedule y of user u runs template t of another owner. Commands that are generated one by one rarely get there.

// lent generates commands about a schedule that runs the template of another owner: those that set it up, if there is none,
// and otherwise one that may give or take the right, and some that need it.
func (g *gen) lent() []rota.Command {
	s := g.currentSchedule("y")
	t, err := g.model.Template(context.Background(), "t")
	if s == nil || s.Spec.Template != "t" || s.Owner != "u" || err != nil || t.Owner == "" || t.Owner == "u" {
		return g.lend()
	}
	if s.NextFire.After(g.now) && g.rarely(2, "until it is due") {
		g.now = s.NextFire
	}
	commands := []rota.Command{g.changeRight()}
	for range choose(g, "uses of the right", 1, 2) {
		commands = append(commands, g.useRight(s))
	}
	return commands
}

func (g *gen) by(actor string) rota.Meta {
	m := g.meta()
	m.Actor, m.Expect = actor, nil
	return m
}

// lend sets up the schedule, with a right from one of several sources.
func (g *gen) lend() []rota.Command {
	commands := []rota.Command{
		&rota.PutPrincipal{Meta: g.by("ada"), Name: "u", Kind: rota.KindUser}, &rota.PutPrincipal{Meta: g.by("ada"), Name: "v", Kind: rota.KindUser},
		&rota.PutTemplate{Meta: g.by("v"), Name: "t", Spec: rota.TemplateSpec{Type: "a"}, Recreate: g.rarely(2, "again")},
		&rota.Unarchive{Meta: g.by("v"), Name: "t"},
	}
	commands = append(commands, g.giveRight()...)
	put := g.putSchedule().(*rota.PutSchedule)
	put.Meta, put.Name, put.Mode, put.Version, put.Recreate = g.by("u"), "y", "", nil, true
	put.Spec.Template, put.Spec.DependsOn = "t", nil
	return append(commands, put)
}

// giveRight gives user u the right itself, through a role, or through two.
func (g *gen) giveRight() []rota.Command {
	role := func(name string) rota.Command {
		return &rota.PutPrincipal{Meta: g.by("ada"), Name: name, Kind: rota.KindRole}
	}
	member := func(of, to string) rota.Command {
		return &rota.GrantPrivileges{Meta: g.by("ada"), To: []string{to}, Role: of}
	}
	grant := func(to string) rota.Command {
		return &rota.GrantPrivileges{
			Meta: g.by("ada"), To: []string{to}, Job: choose(g, "lent by", "t", "t", ""), Privileges: []rota.Privilege{rota.ExecuteJob},
		}
	}
	switch choose(g, "lent through", 0, 1, 2, 3) {
	case 0:
		return []rota.Command{grant("u")}
	case 1:
		return []rota.Command{role("a"), member("a", "u"), grant("a")}
	case 2:
		return []rota.Command{role("a"), role("b"), member("a", "u"), member("b", "a"), grant("b")}
	}
	return nil
}

// changeRight generates a command that may take the right away or give it back.
func (g *gen) changeRight() rota.Command {
	revoke := func(c *rota.GrantPrivileges) rota.Command {
		c.Meta, c.Revoke = g.by("ada"), true
		return c
	}
	switch choose(g, "change of the right", 0, 0, 0, 1, 2, 3, 4, 5, 6) {
	case 0:
		return revoke(&rota.GrantPrivileges{
			To: []string{choose(g, "revoked from", "u", "u", "a", "b")}, Job: choose(g, "revoked on", "t", "t", ""), Privileges: []rota.Privilege{rota.ExecuteJob},
		})
	case 1:
		return revoke(&rota.GrantPrivileges{To: []string{choose(g, "member", "u", "a")}, Role: choose(g, "left role", "a", "b")})
	case 2:
		return &rota.DropPrincipal{Meta: g.by("ada"), Name: choose(g, "dropped role", "a", "b"), Kind: rota.KindRole}
	case 3:
		return &rota.PutTemplate{Meta: g.by("v"), Name: "t", Spec: rota.TemplateSpec{Type: "a"}, Recreate: true}
	case 4:
		return &rota.SetOwner{Meta: g.by("ada"), Name: choose(g, "passed on", "t", "y"), Owner: choose(g, "new owner", "u", "v", rota.AdminUser)}
	case 5:
		return &rota.All{Meta: g.by("ada"), Members: append(g.giveRight(), g.trigger())}
	}
	return g.grantPrivileges()
}

// useRight generates a command that needs the right, or one that does not although it is about the schedule.
func (g *gen) useRight(s *rota.Schedule) rota.Command {
	switch choose(g, "use of the right", 0, 0, 0, 1, 2, 3, 4) {
	case 0:
		return g.fireOf("y")
	case 1:
		return &rota.Trigger{Meta: g.meta(), Schedule: "y"}
	case 2:
		return &rota.Backfill{Meta: g.meta(), Schedule: "y", Times: g.fireTimes(1)}
	case 3:
		c := g.switchSchedule().(*rota.SwitchSchedule)
		c.Name, c.Version = "y", nil
		return c
	}
	c := g.putSchedule().(*rota.PutSchedule)
	c.Name, c.Mode, c.Version = "y", "", nil
	if g.rarely(2, "as it is") {
		c.Spec, c.Recreate = s.Spec, false
	}
	return c
}
