package rules

import (
	"fmt"
	"slices"

	"github.com/rotajobs/rota"
)

// Hooks are the webhooks in force.
type Hooks struct {
	All        []rota.Webhook            // webhooks of all events
	ByTemplate map[string][]rota.Webhook // webhooks of the jobs of a template; only templates that have some
}

// deliver adds the jobs that deliver events to webhooks to decided changes, so
// that an event and its deliveries are stored together or not at all. A change
// of the webhooks themselves applies to the whole step.
func deliver(tx Tx, u *UnitOfWork, c *Changes) error {
	hooks, err := tx.Hooks()
	if err != nil || !anyWebhook(hooks, c) {
		return err
	}
	p := &deliveryBuilder{hooks: hooks, changes: c}
	if c.eachEvent(p.job, p.other); len(p.jobs) == 0 {
		return nil
	}
	known, err := existingDeliveries(tx, u, p.jobs)
	if err != nil {
		return err
	}
	// Ids of one time differ only in a hash. Sorted, they are adjacent in the store.
	slices.SortFunc(p.jobs, func(a, b *rota.Job) int { return a.ID.Compare(b.ID) })
	for _, j := range p.jobs {
		if !known[j.ID] {
			known[j.ID] = true
			c.NewJobs = append(c.NewJobs, j)
		}
	}
	return nil
}

// mayDeliver refuses a command that creates more webhook deliveries than one
// step may. A command that ends runs or only moves jobs is never refused.
func mayDeliver(tx Tx, u *UnitOfWork, c rota.Command, mark int) (*rota.Error, error) {
	switch c.(type) {
	case *rota.Enqueue, *rota.EnqueueGroup, *rota.Backfill, *rota.All:
	default:
		return nil, nil
	}
	hooks, err := tx.Hooks()
	if err != nil || hooks == nil {
		return nil, err
	}
	p := &deliveryBuilder{hooks: hooks, changes: &Changes{}}
	each, n := map[string]int{}, 0 // by template
	for _, entry := range u.undo[mark:] {
		if entry.row == nil || entry.was.inserted != nil || entry.row.inserted == nil || rota.InternalType(entry.row.inserted.Type) {
			continue
		}
		template := entry.row.inserted.Template
		if _, known := each[template]; !known {
			each[template] = countEnqueuedSubscribers(p.global()) + countEnqueuedSubscribers(p.ofTemplate(template))
		}
		n += each[template]
	}
	if n <= rota.DeliveriesMax {
		return nil, nil
	}
	return &rota.Error{
		Code: rota.Invalid, Field: "command", Reason: fmt.Sprintf("would create %d deliveries to webhooks; at most %d are allowed", n, rota.DeliveriesMax),
		Hint: "send fewer jobs at once, or subscribe the webhooks to fewer events",
	}, nil
}

// countEnqueuedSubscribers counts the webhooks that receive an event for each
// created job.
func countEnqueuedSubscribers(hooks []rota.Webhook) (n int) {
	for i := range hooks {
		if hooks[i].Subscribes(rota.EventJobEnqueued) {
			n++
		}
	}
	return n
}

// anyWebhook reports whether there is a webhook, stored or in the changes.
func anyWebhook(hooks *Hooks, c *Changes) bool {
	return hooks != nil || len(Webhooks.Changes(c)) > 0 ||
		slices.ContainsFunc(Templates.Changes(c), func(t Change[string, rota.Template]) bool { return t.Is != nil && len(t.Is.Spec.Webhooks) > 0 })
}

// existingDeliveries reports which deliveries exist already: their event was
// pruned, and has happened again at the same time.
func existingDeliveries(tx Tx, u *UnitOfWork, jobs []*rota.Job) (map[rota.ID]bool, error) {
	u.forgetMissing()
	for _, j := range jobs {
		u.fullJobs.want(j.ID)
	}
	if err := u.load(tx); err != nil {
		return nil, err
	}
	known := make(map[rota.ID]bool, len(jobs))
	for _, j := range jobs {
		known[j.ID] = u.job(j.ID) != nil
	}
	return known, nil
}

// deliveryBuilder collects the delivery jobs of a step.
type deliveryBuilder struct {
	hooks   *Hooks // as stored
	changes *Changes
	jobs    []*rota.Job
}

// global returns the webhooks of all events.
func (p *deliveryBuilder) global() []rota.Webhook {
	switch {
	case len(Webhooks.Changes(p.changes)) > 0:
		return Webhooks.Changes(p.changes)[0].Is.Spec
	case p.hooks != nil:
		return p.hooks.All
	}
	return nil
}

// ofTemplate returns the webhooks of a template.
func (p *deliveryBuilder) ofTemplate(template string) []rota.Webhook {
	if template == "" {
		return nil
	}
	for _, c := range Templates.Changes(p.changes) {
		if c.Key == template && c.Is != nil {
			return c.Is.Spec.Webhooks
		}
	}
	if p.hooks == nil {
		return nil
	}
	return p.hooks.ByTemplate[template]
}

// job adds the deliveries of a job's event. Jobs of internal types have none,
// or each delivery would cause further deliveries for ever.
func (p *deliveryBuilder) job(kind rota.EventKind, j *rota.Job, _ string) {
	if rota.InternalType(j.Type) {
		return
	}
	all, of := p.global(), p.ofTemplate(j.Template)
	if len(all)+len(of) == 0 {
		return
	}
	d := rota.Delivery{Event: kind, JobID: idOrNil(j.ID), Schedule: j.Schedule, GroupID: idOrNil(j.GroupID)}
	p.add(all, d)
	d.Template = j.Template
	p.add(of, d)
}

// other adds the deliveries of any other event.
func (p *deliveryBuilder) other(e rota.Event) {
	d := rota.Delivery{
		Event: e.Kind, JobID: idOrNil(e.JobID), Schedule: e.Schedule, PlanTime: e.PlanTime, GroupID: idOrNil(e.GroupID),
		ReservationID: idOrNil(e.ReservationID), Detail: e.Detail,
	}
	if d.Schedule == "" { // the schedule is its name
		d.Name = e.Name
	}
	p.add(p.global(), d)
}

// add adds a delivery to each webhook that subscribes to the event.
func (p *deliveryBuilder) add(hooks []rota.Webhook, d rota.Delivery) {
	for i := range hooks {
		if hooks[i].Subscribes(d.Event) {
			d.URL, d.Time = hooks[i].URL, p.changes.Now
			p.jobs = append(p.jobs, delivery(&d))
		}
	}
}

// delivery returns the job that delivers an event. It is ready at once, has the
// lowest priority, and does not affect the positions of other jobs.
func delivery(d *rota.Delivery) *rota.Job {
	params := rota.EncodeSpec(d)
	id := rota.DeliveryID(params, d.Event, d.Time)
	return &rota.Job{
		ID: id, ExecutionID: id, Type: rota.TypeWebhook, Name: deliveryName, Params: params,
		Status: rota.StatusQueued, Priority: rota.PriorityMin, Attempt: 1, Policy: rota.DeliveryPolicy,
		CreatedBy: rota.SystemActor, CreatedAt: d.Time, QueuedAt: d.Time,
	}
}

// deliveryName is the name of delivery jobs.
const deliveryName = "webhook"

func idOrNil(id rota.ID) *rota.ID {
	if id.IsZero() {
		return nil
	}
	return &id
}
