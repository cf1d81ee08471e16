package rules

import (
	"fmt"

	"github.com/rotajobs/rota"
)

// decideAll decides its members one after the other in one unit of work, so
// that each sees what the members before it did. The caller rolls everything
// back when one member is refused.
func decideAll(tx Tx, u *UnitOfWork, c *rota.All) (rota.Reply, *rota.Error, error) {
	replies := make([]rota.Reply, 0, len(c.Members))
	for i, member := range c.Members {
		if err := load(tx, &Need{unit: u, fullLeases: true}, []rota.Command{member}); err != nil {
			return nil, nil, err
		}
		u.savepoint()
		reply, refusal, err := decide(tx, u, member)
		if err != nil {
			return nil, nil, err
		}
		if refusal != nil {
			return nil, inMember(i, refusal), nil
		}
		if refusal := lostLease(reply); refusal != nil {
			return nil, inMember(i, refusal), nil
		}
		replies = append(replies, reply)
	}
	return &rota.AllDone{Replies: replies}, nil, nil
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
