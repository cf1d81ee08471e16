package storetest

import (
	"context"
	"time"

	"github.com/rotajobs/rota"
)

// The definitions of which templates and schedules have the same name are few, so that owners of both change.

func (g *gen) setOwner() rota.Command {
	c := &rota.SetOwner{Meta: g.meta(), Name: choose(g, "owned", "t", "u", "x", "y"), Owner: choose(g, "owner", rota.AdminUser, "u", "v", "a", "nobody")}
	if c.Kind = choose(g, "kind of the owned", "", rota.ExpectTemplate, rota.ExpectSchedule); c.Kind != "" {
		c.Version = g.putVersion()
	}
	return c
}

// expectations returns what the model has before the batch, or sometimes something else.
func (g *gen) expectations() (expect []rota.Expectation) {
	for range choose(g, "expectations", 1, 1, 2) {
		e := rota.Expectation{Kind: rota.ExpectTemplate, Name: choose(g, "expected template", "t", "u", "x", "none")}
		if g.rarely(2, "expect schedule") {
			e = rota.Expectation{Kind: rota.ExpectSchedule, Name: g.scheduleName()}
		}
		if g.rarely(4, "another time") {
			e.Owner, e.Since = choose(g, "expected owner", rota.AdminUser, "u"), g.now
		} else {
			e.Owner, e.Since, e.Version = g.ownerOf(e.Kind, e.Name)
		}
		switch {
		case e.Since.IsZero() || g.rarely(3, "any version"):
			e.Version = rota.ID{}
		case g.rarely(4, "another version"):
			e.Version = g.ids.next()
		}
		expect = append(expect, e)
	}
	return expect
}

func (g *gen) ownerOf(kind, name string) (owner string, since time.Time, version rota.ID) {
	if kind == rota.ExpectTemplate {
		if t, err := g.model.Template(context.Background(), name); err == nil {
			return t.Owner, t.Since, t.Version
		}
	} else if s := g.currentSchedule(name); s != nil {
		return s.Owner, s.Since, s.Version
	}
	return "", time.Time{}, rota.ID{}
}
