package explain

import (
	"fmt"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
)

const raiseLimit = "PUT /api/v1/limits"

// key explains a job whose concurrency key holds it back.
func (a *explainer) key() {
	j := a.Job
	applied, limited := a.Limits.Key(j.ConcurrencyKey, j.Type)
	held, name := j.Hold&rota.HoldKey != 0, oneLine(j.ConcurrencyKey)
	limit, counted, setting := applied.Concurrency, "with the concurrency key "+name, limitSetting(applied)
	if applied.OfType != "" {
		counted = "of type " + applied.OfType + " " + counted
	}
	remedy := fmt.Sprintf("It may start when one of them ends; to let more run at once, raise %s: %s.", setting, raiseLimit)
	switch {
	case j.ConcurrencyKey == "" || !held && j.Hold != 0:
	case limited && a.OpenKey >= limit:
		a.addReason(rota.ReasonKeyLimit, limitReached(a.OpenKey, counted, limit), remedy)
	case held && limited && a.OpenKey+a.ReadyKey >= limit:
		a.addReason(rota.ReasonKeyLimit,
			fmt.Sprintf("At most %s %s may run at once; running: %d, ready before it, of its type: %d.",
				jobCount(limit), counted, a.OpenKey, a.ReadyKey), remedy)
	case held && limited:
		a.addReason(rota.ReasonKeyLimit,
			fmt.Sprintf("The concurrency key %s is below its limit, and this job is about to be released.", name), remedyServer)
	case held:
		a.addReason(rota.ReasonKeyLimit,
			fmt.Sprintf("The concurrency key %s has no limit any more, and this job is about to be released.", name), remedyServer)
	}
}

// limitSetting names the setting that limits a key.
func limitSetting(limit rota.AppliedKeyLimit) string {
	switch limit.Source {
	case rota.LimitOfEachKey:
		return "the limit of each key " + oneLine(limit.Name) + " in each_key"
	case rota.LimitOfEachKeyOfType:
		return "the limit of each key of type " + limit.Name + " in each_key_of_type"
	}
	return "the limit of the key in keys"
}

// global explains a job that the global limit holds back.
func (a *explainer) global() {
	if limit := a.Limits.Global; limit > 0 && a.Open >= limit && !rota.InternalType(a.Job.Type) {
		a.addReason(rota.ReasonGlobalLimit,
			limitReached(a.Open, "of all types", limit),
			fmt.Sprintf("The next one starts when one of them ends; to let more run at once, raise the global limit: %s.", raiseLimit))
	}
}

func (a *explainer) typeLimit() {
	if limit := a.Limits.Type(a.Job.Type).Concurrency; limit > 0 && a.OpenType >= limit {
		a.addReason(rota.ReasonTypeLimit,
			limitReached(a.OpenType, "of type "+a.Job.Type, limit),
			fmt.Sprintf("The next one starts when one of them ends; to let more run at once, raise the limit of the type: %s.", raiseLimit))
	}
}

// rate explains a job whose type has started as often as its rate allows.
func (a *explainer) rate() {
	rate := a.Limits.Type(a.Job.Type).Rate
	if rate.Count == 0 {
		return
	}
	bucket := rota.Bucket{Type: a.Job.Type}
	if a.Bucket != nil {
		bucket = *a.Bucket
	}
	if bucket = bucket.At(rate, a.Now); bucket.Available(rate) > 0 {
		return
	}
	again := bucket.AvailableAt(rate)
	a.addReason(rota.ReasonRate,
		fmt.Sprintf("Jobs of type %s have started as often as the rate allows: %d in %s.", a.Job.Type, rate.Count, shortDuration(rate.Per)),
		fmt.Sprintf("The next may start at %s; to let more start, raise the rate of the type: %s.", rules.Stamp(again), raiseLimit),
	).Until = again
}

// reservation explains that a node reserved for a direct run takes no other
// job.
func (a *explainer) reservation() {
	r := a.Reservation
	if r == nil || r.Status != rota.ReservationActive || !r.ExpiresAt.After(a.Now) {
		return
	}
	what, jobs := "a direct run", []rota.ID(nil)
	if !r.JobID.IsZero() {
		what, jobs = "the direct run of "+rules.JobRef(r.JobID), []rota.ID{r.JobID}
	}
	reason := a.addReason(rota.ReasonReservation,
		fmt.Sprintf("Node %s is reserved for %s until %s and takes no job from the queue until then.", r.Node, what, rules.Stamp(r.ExpiresAt)),
		fmt.Sprintf("The node continues when the reservation ends; another node may take jobs of type %s at any time.", a.Job.Type))
	reason.Until, reason.Jobs = r.ExpiresAt, jobs
}

// order explains a ready job: other jobs are before it, or a worker has yet to
// take it.
func (a *explainer) order() {
	typ := a.Job.Type
	text := fmt.Sprintf("In the order %s before it, %s of type %s.", a.readyBefore(), cappedCount(a.BeforeType), typ)
	switch {
	case a.Before == 0:
		text = "It is the first in the order."
	case a.BeforeType == 0:
		text = fmt.Sprintf("It is the first of type %s; in the whole order %s before it.", typ, a.readyBefore())
	}
	a.addReason(rota.ReasonOrder, text, a.startRemedy())
}

// startRemedy returns how a ready job comes to run.
func (a *explainer) startRemedy() string {
	typ, id := a.Job.Type, a.Job.ID
	unless := ""
	if a.Before > 0 {
		unless = ", unless it takes the jobs before it as well"
	}
	switch {
	case a.BeforeType > 0:
		return fmt.Sprintf("It starts after them; to move it to the front: rota job move %s --top, or rota job priority %s N.", id, id)
	case len(a.reasons) > 0:
		return fmt.Sprintf("When nothing else holds it back, the next worker for type %s with a free slot takes it%s.", typ, unless)
	}
	return fmt.Sprintf("The next worker for type %s with a free slot takes it%s; if none does, check that one is running.", typ, unless)
}

func (a *explainer) readyBefore() string {
	if a.Before == 1 {
		return "1 ready job comes"
	}
	return cappedCount(a.Before) + " ready jobs come"
}

func cappedCount(n int) string {
	if n > CountMax {
		return "more than 10,000"
	}
	return fmt.Sprint(n)
}

// limitReached says how many jobs run, and that no more may.
func limitReached(running int, which string, limit int) string {
	verb := "run"
	if running == 1 {
		verb = "runs"
	}
	return fmt.Sprintf("%s %s %s, and the limit is %d.", jobCount(running), which, verb, limit)
}

// jobCount returns a number of jobs as text.
func jobCount(n int) string {
	if n == 1 {
		return "1 job"
	}
	return fmt.Sprintf("%d jobs", n)
}
