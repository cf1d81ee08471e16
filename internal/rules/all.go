package rules

import (
	"fmt"

	"github.com/rotajobs/rota"
)

// decideAll decides its members one after the other in one unit of work, so
// that each sees what the members before it did. The caller rolls everything
// back when one member is refused.
func decideAll(u *UnitOfWork, c *rota.All) (rota.Reply, *rota.Error) {
	replies := make([]rota.Reply, len(c.Members))
	var refusal *rota.Error
	u.each(len(c.Members), func(i int) {
		if refusal != nil {
			return
		}
		u.mark()
		reply, refused := decide(u, c.Members[i])
		if refused == nil {
			refused = lostLease(reply)
		}
		if refused != nil {
			refusal = inMember(i, refused)
		}
		replies[i] = reply
	})
	if refusal != nil {
		return nil, refusal
	}
	return &rota.AllDone{Replies: replies}, nil
}

// isDryRun reports whether a command writes nothing.
func isDryRun(c rota.Command) bool {
	all, is := c.(*rota.All)
	return is && all.Dry
}

// lostLease refuses the whole command when a member refers to a lost lease: the
// other members are the work of a holder that another attempt has replaced.
func lostLease(reply rota.Reply) *rota.Error {
	var lost func(i int) bool
	n := 0
	switch r := reply.(type) {
	case *rota.Finished:
		n, lost = len(r.Items), func(i int) bool { return r.Items[i].Code != "" }
	case *rota.Noted:
		n, lost = len(r.Items), func(i int) bool { return r.Items[i].Code != "" }
	}
	for i := range n {
		if lost(i) {
			return &rota.Error{
				Code: rota.LeaseLost, Act: string(rota.VerbAll), Field: fmt.Sprintf("items[%d]", i),
				Reason: "the lease is lost: another attempt has taken its place",
			}
		}
	}
	return nil
}

func inMember(i int, refusal *rota.Error) *rota.Error {
	e := *refusal
	e.Field = fmt.Sprintf("members[%d]", i)
	if refusal.Field != "" {
		e.Field += "." + refusal.Field
	}
	return &e
}
