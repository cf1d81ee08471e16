package rules

import "github.com/rotajobs/rota"

// unmetExpectation returns the refusal of a command whose expectation does not hold, nil if all hold. The rows are read
// like all others, so Lock guarantees that they are still the same at the commit.
func unmetExpectation(u *UnitOfWork, expect []rota.Expectation) *rota.Error {
	for i := range expect {
		switch e := &expect[i]; e.Kind {
		case rota.ExpectTemplate:
			Templates.want(u, e.Name)
		case rota.ExpectSchedule:
			Schedules.want(u, e.Name)
		}
	}
	for i := range expect {
		if e := &expect[i]; !holds(u, e) {
			return &rota.Error{
				Code: rota.Conflict, Field: "expect", Reason: e.Kind + " " + e.Name + " was changed or recreated meanwhile", Hint: "send it again",
			}
		}
	}
	return nil
}

func holds(u *UnitOfWork, e *rota.Expectation) bool {
	switch e.Kind {
	case rota.ExpectTemplate:
		if t := Templates.get(u, e.Name); t != nil {
			return e.Holds(t.Owner, t.Since, t.Version)
		}
	case rota.ExpectSchedule:
		if s := Schedules.get(u, e.Name); s != nil {
			return e.Holds(s.Owner, s.Since, s.Version)
		}
	}
	return e.Holds("", noTime, rota.ID{})
}

// decideExpecting decides a command that has expectations. If one does not hold, the command may not change
// anything: it is refused, unless its rules find nothing to change. This is how every verb answers a command
// that was applied before, whose own changes may be the reason why the expectation no longer holds.
func decideExpecting(u *UnitOfWork, c rota.Command) (rota.Reply, *rota.Error) {
	unmet := unmetExpectation(u, c.Head().Expect)
	begin := len(u.undo)
	reply, refusal := decideVerb(u, c)
	if unmet != nil && (refusal != nil || u.changedSince(begin)) {
		unmet.Act = string(c.Verb())
		return nil, unmet
	}
	return reply, refusal
}
