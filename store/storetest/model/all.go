package model

import (
	"fmt"

	"github.com/rotajobs/rota"
)

// all works on the one copy of the state that the whole command has, so a refusal also discards
// the changes of earlier members.
func (s *step) all(c *rota.All) (rota.Reply, *rota.Error) {
	reply := &rota.AllDone{}
	for i, m := range c.Members {
		one, err := s.apply(m)
		if err != nil {
			return nil, inMember(i, err)
		}
		if err := lostLease(one); err != nil {
			return nil, inMember(i, err)
		}
		reply.Replies = append(reply.Replies, one)
	}
	return reply, nil
}

// lostLease returns the error of a member whose lease is lost.
func lostLease(reply rota.Reply) *rota.Error {
	var codes []rota.Code
	switch r := reply.(type) {
	case *rota.Finished:
		for _, a := range r.Items {
			codes = append(codes, a.Code)
		}
	case *rota.Noted:
		for _, a := range r.Items {
			codes = append(codes, a.Code)
		}
	}
	for i, code := range codes {
		if code != "" {
			err := rota.Errorf(code, "all", "the lease is lost")
			err.Field = fmt.Sprintf("items[%d]", i)
			return err
		}
	}
	return nil
}

func inMember(i int, err *rota.Error) *rota.Error {
	inner := *err
	inner.Field = fmt.Sprintf("members[%d]", i)
	if err.Field != "" {
		inner.Field += "." + err.Field
	}
	return &inner
}
