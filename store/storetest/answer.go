package storetest

import (
	"fmt"
	"strings"

	"github.com/rotajobs/rota"
)

// Answers is the canonical text of results, for comparing what two stores
// said. Reasons are each store's own words and are left out; so are the fields
// of errors other than Invalid, except those that the law names.
func Answers(results []rota.Result) string {
	var b text
	for i, r := range results {
		fmt.Fprintf(&b, "[%d]\n", i)
		if r.Err != nil {
			b.refusal("  ", r.Err)
		} else {
			b.reply("  ", r.Reply)
		}
	}
	return b.String()
}

func (b *text) refusal(indent string, err *rota.Error) {
	b.line(indent, "refused", string(err.Code))
	b.line(indent, "field", lawfulField(err))
}

// lawfulField is the part of an error's field that the law fixes: all of it
// for Invalid and for a job's id, else only which member of an All it was.
func lawfulField(err *rota.Error) string {
	if err.Code == rota.Invalid || strings.HasSuffix(err.Field, "].id") {
		return err.Field
	}
	if member, _, _ := strings.Cut(err.Field, "."); strings.HasPrefix(member, "members[") {
		return member
	}
	return ""
}

func (b *text) reply(indent string, reply rota.Reply) {
	switch r := reply.(type) {
	case *rota.Enqueued:
		for _, one := range r.Jobs {
			b.line(indent, "enqueued, duplicate", fmt.Sprint(one.Duplicate))
			if one.Job != nil {
				b.job(indent, one.Job)
			}
		}
	case *rota.Readied:
		b.line(indent, "readied", fmt.Sprintf("%d more %v", r.Count, r.More))
	case *rota.Claimed:
		b.line(indent, "claimed", fmt.Sprint(len(r.Jobs)))
		for _, j := range r.Jobs {
			b.job(indent, j)
		}
	case *rota.Extended:
		b.leases(indent, "extended", r.Items)
	case *rota.Noted:
		b.leases(indent, "noted", r.Items)
	case *rota.Finished:
		for _, it := range r.Items {
			b.finish(indent, it)
		}
	case *rota.CancelledJob:
		b.line(indent, "cancelled, stopping", fmt.Sprint(r.Stopping))
		b.job(indent, r.Job)
	case *rota.Edited:
		b.line(indent, "edited", "yes")
		b.job(indent, r.Job)
	case *rota.Moved:
		b.line(indent, "moved", "yes")
		b.job(indent, r.Job)
	case *rota.Normalised:
		b.line(indent, "normalised", fmt.Sprintf("%d last %s more %v", r.Count, r.Last, r.More))
	case *rota.Reaped:
		b.settlements(indent, "reaped", r.Jobs, r.More)
	case *rota.Recovered:
		b.settlements(indent, "recovered", r.Jobs, r.More)
	case *rota.AllDone:
		for i, one := range r.Replies {
			b.line(indent, "member", fmt.Sprint(i))
			b.reply(indent+"  ", one)
		}
	default:
		b.line(indent, "answer of an unknown kind", fmt.Sprintf("%T", reply))
	}
}

func (b *text) leases(indent, name string, items []rota.LeaseAnswer) {
	for _, it := range items {
		b.line(indent, name, it.RunID.String())
		b.line(indent+"  ", "code", string(it.Code))
		b.line(indent+"  ", "stale_after", clock(it.StaleAfter))
		if it.Cancel {
			b.line(indent+"  ", "cancel", "yes")
		}
		b.line(indent+"  ", "reason", brief(it.Reason))
	}
}

func (b *text) finish(indent string, it rota.FinishAnswer) {
	b.line(indent, "finished", it.RunID.String())
	b.line(indent+"  ", "code", string(it.Code))
	b.line(indent+"  ", "outcome", string(it.Outcome))
	b.line(indent+"  ", "sequel", string(it.Sequel))
	b.line(indent+"  ", "retry", it.RetryID.String())
	b.line(indent+"  ", "retry_at", clock(it.RetryAt))
}

func (b *text) settlements(indent, name string, jobs []rota.Settlement, more bool) {
	b.line(indent, name, fmt.Sprintf("%d more %v", len(jobs), more))
	for _, it := range jobs {
		b.line(indent, "settled", it.JobID.String())
		b.line(indent+"  ", "act", string(it.Act))
		b.line(indent+"  ", "outcome", string(it.Outcome))
		b.line(indent+"  ", "sequel", string(it.Sequel))
		b.line(indent+"  ", "retry", it.RetryID.String())
	}
}
