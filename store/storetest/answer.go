package storetest

import (
	"fmt"
	"strings"

	"github.com/rotajobs/rota"
)

// Answers returns the canonical text of results, for comparing the answers of two stores. Each
// store words its own reasons, so the text omits them. It also omits the fields of errors other
// than Invalid, except those that the rules specify.
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
	b.line(indent, "field", specifiedField(err))
}

// specifiedField returns the part of an error's field that the rules specify: all of it for
// Invalid and for a job's id, otherwise only which member of an All was refused.
func specifiedField(err *rota.Error) string {
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
		b.line(indent, "claimed", fmt.Sprintf("%d more %v", len(r.Jobs), r.More))
		b.line(indent, "next", timeText(r.Next))
		b.jobs(indent, r.Jobs)
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
		b.line(indent, "normalised", fmt.Sprintf("%d last %s more %v below %s", r.Count, r.Last, r.More, optionalText(r.Below)))
	case *rota.Reaped:
		b.settlements(indent, "reaped", r.Jobs, r.More)
	case *rota.Recovered:
		b.settlements(indent, "recovered", r.Jobs, r.More)
		b.line(indent, "reservation given up", r.Reservation.String())
	case *rota.AllDone:
		for i, one := range r.Replies {
			b.line(indent, "member", fmt.Sprint(i))
			b.reply(indent+"  ", one)
		}
	default:
		b.definitionReply(indent, reply)
	}
}

// definitionReply writes the reply to a command about types, templates, schedules, limits or
// webhooks.
func (b *text) definitionReply(indent string, reply rota.Reply) {
	switch r := reply.(type) {
	case *rota.TypePut:
		b.line(indent, "put, changed", fmt.Sprint(r.Changed))
		b.typ(indent, r.Type)
	case *rota.TemplatePut:
		b.line(indent, "put, changed", fmt.Sprintf("%v disabled %d", r.Changed, r.Disabled))
		b.template(indent, r.Template)
	case *rota.ThrottlePut:
		b.line(indent, "put, changed", fmt.Sprint(r.Changed))
		b.throttle(indent, r.Throttle)
	case *rota.WebhooksPut:
		b.line(indent, "put, changed", fmt.Sprint(r.Changed))
		b.webhooks(indent, r.Webhooks)
	case *rota.SchedulePut:
		b.line(indent, "put, changed", fmt.Sprint(r.Changed))
		b.schedule(indent, r.Schedule)
	case *rota.OwnerSet:
		b.line(indent, "owner set, changed", fmt.Sprint(r.Changed))
		b.template(indent, r.Template)
		b.schedule(indent, r.Schedule)
	case *rota.ScheduleDeleted:
		b.line(indent, "deleted, gone", fmt.Sprint(r.Gone))
	case *rota.Dropped:
		b.line(indent, "dropped, gone", fmt.Sprintf("%v cancelled %d stopping %d archived %v", r.Gone, r.Cancelled, r.Stopping, r.Archived))
	case *rota.Fired:
		b.line(indent, "fired", fmt.Sprintf("%d known %d moved %v", len(r.Jobs), r.Known, r.ScheduleChanged))
		b.line(indent, "disabled", r.Disabled)
		b.jobs(indent, r.Jobs)
	case *rota.Triggered:
		b.line(indent, "triggered", fmt.Sprint(len(r.Jobs)))
		b.jobs(indent, r.Jobs)
	case *rota.Backfilled:
		b.line(indent, "backfilled", fmt.Sprintf("%d known %d", len(r.Jobs), r.Known))
		b.jobs(indent, r.Jobs)
	default:
		b.otherReply(indent, reply)
	}
}

// otherReply writes the reply to a command about groups, reservations or maintenance.
func (b *text) otherReply(indent string, reply rota.Reply) {
	switch r := reply.(type) {
	case *rota.GroupEnqueued:
		b.line(indent, "group enqueued", fmt.Sprint(len(r.Jobs)))
		b.group(indent, r.Group)
		b.jobs(indent, r.Jobs)
	case *rota.CancelledGroup:
		b.line(indent, "group cancelled", fmt.Sprintf("%d stopping %d more %v", r.Cancelled, r.Stopping, r.More))
		b.group(indent, r.Group)
	case *rota.Reserved:
		b.line(indent, "reserved", "yes")
		b.reservation(indent, r.Reservation)
	case *rota.Directed:
		b.line(indent, "directed", "yes")
		b.job(indent, r.Job)
	case *rota.Released:
		b.line(indent, "released", "yes")
		b.reservation(indent, r.Reservation)
	case *rota.Expired:
		b.line(indent, "expired", fmt.Sprintf("skipped %s freed %s more %v", idsText(r.Skipped), idsText(r.Freed), r.More))
		b.line(indent, "reservation given up", r.Reservation.String())
	case *rota.Swept:
		b.line(indent, "swept", fmt.Sprintf("%d more %v", r.Count, r.More))
	case *rota.Pruned:
		b.line(indent, "pruned", fmt.Sprintf("%d with %d jobs, kept %s, rest %s", r.Executions, r.Jobs, idsText(r.Kept), idsText(r.Rest)))
	case *rota.Redriven:
		b.line(indent, "redriven", "yes")
		b.job(indent, r.Job)
	case *rota.Remembered:
		b.line(indent, "remembered", fmt.Sprintf("%s known %v", r.Command, r.Known))
	default:
		b.accessReply(indent, reply)
	}
}

// accessReply writes the reply to a command about users, roles or tokens.
func (b *text) accessReply(indent string, reply rota.Reply) {
	switch r := reply.(type) {
	case *rota.PrincipalPut:
		b.line(indent, "put, changed", fmt.Sprint(r.Changed))
		b.principal(indent, r.Principal)
	case *rota.PrincipalDropped:
		b.line(indent, "dropped, gone", fmt.Sprint(r.Gone))
	case *rota.Granted:
		b.line(indent, "granted, changed, repeated", fmt.Sprint(r.Changed, r.Repeated))
		for _, p := range r.Principals {
			b.principal(indent, p)
		}
	case *rota.TokenPut:
		b.line(indent, "token put, changed", fmt.Sprint(r.Changed))
		b.token(indent, r.Token)
	case *rota.TokenRevoked:
		b.line(indent, "token revoked, changed", fmt.Sprint(r.Changed))
		b.token(indent, r.Token)
	case *rota.TokensTouched:
		b.line(indent, "tokens touched", fmt.Sprint(r.Touched))
	case *rota.SecretPut:
		b.line(indent, "secret put, changed", fmt.Sprint(r.Changed))
		b.secret(indent, r.Secret)
	case *rota.SecretDeleted:
		b.line(indent, "secret deleted, gone", fmt.Sprint(r.Gone))
	case *rota.SecretsRewrapped:
		b.line(indent, "secrets rewrapped", fmt.Sprint(r.Rewrapped))
	case *rota.SecretKeyPromoted:
		b.line(indent, "key promoted, changed", fmt.Sprint(r.Changed))
	case *rota.AccessRecorded:
		b.line(indent, "access recorded", fmt.Sprint(r.Recorded))
	default:
		b.line(indent, "answer of an unknown kind", fmt.Sprintf("%T", reply))
	}
}

func (b *text) jobs(indent string, jobs []*rota.Job) {
	for _, j := range jobs {
		b.job(indent, j)
	}
}

// idsText writes nil and an empty list alike.
func idsText(ids []rota.ID) string {
	var names []string
	for _, id := range ids {
		names = append(names, id.String())
	}
	return "[" + strings.Join(names, " ") + "]"
}

func (b *text) leases(indent, name string, items []rota.LeaseAnswer) {
	for _, it := range items {
		b.line(indent, name, it.RunID.String())
		b.line(indent+"  ", "code", string(it.Code))
		b.line(indent+"  ", "stale_after", timeText(it.StaleAfter))
		if it.Cancel {
			b.line(indent+"  ", "cancel", "yes")
		}
		b.line(indent+"  ", "reason", brief(it.Reason))
		b.line(indent+"  ", "overdue", yesIf(it.Overdue))
	}
}

func (b *text) finish(indent string, it rota.FinishAnswer) {
	b.line(indent, "finished", it.RunID.String())
	b.line(indent+"  ", "code", string(it.Code))
	b.line(indent+"  ", "outcome", string(it.Outcome))
	b.line(indent+"  ", "sequel", string(it.Sequel))
	b.line(indent+"  ", "retry", it.RetryID.String())
	b.line(indent+"  ", "retry_at", timeText(it.RetryAt))
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

// optionalText writes a number that may be absent.
func optionalText(n *int) string {
	if n == nil {
		return "none"
	}
	return fmt.Sprint(*n)
}
