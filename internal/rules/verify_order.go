package rules

import "github.com/rotajobs/rota"

// orderChecksum counts jobs and adds up what of them decides the order, in a sum
// that does not depend on the order in which they come. Two equal ones hold
// the same jobs in the same places.
type orderChecksum struct {
	jobs int
	sum  uint64
}

func (c *orderChecksum) add(j *rota.Job) {
	c.jobs++
	c.sum += placeHash(j)
}

// placeHash mixes the fields of the order: a damaged index differs by
// accident, not by design.
func placeHash(j *rota.Job) uint64 {
	h := mix(0, uint64(j.Priority))
	h = mix(h, uint64(j.Position))
	h = mix(h, uint64(j.CreatedAt.UnixMicro()))
	return mix(h, fingerprintOf(j.ID))
}

// countQueued takes the census of what the order should hold.
func (v *Verifier) countQueued(j *rota.Job) {
	if j.Status == rota.StatusQueued {
		v.queue.add(j)
	}
	if j.Ready() {
		v.ready.add(j)
	}
}

// OrderWalk is an order as a store keeps it, to be walked from its head. Only the
// fields that decide the order need be set in its jobs.
type OrderWalk struct {
	v    *Verifier
	name string
	want *orderChecksum
	seen orderChecksum
	last *rota.Job
}

// QueueOrder begins the walk of the order of all QUEUED jobs. Jobs come first.
func (v *Verifier) QueueOrder() *OrderWalk {
	return &OrderWalk{v: v, name: "the order of the queue", want: &v.queue}
}

// ClaimOrder begins the walk of the order of claims, type by type.
func (v *Verifier) ClaimOrder() *OrderWalk {
	return &OrderWalk{v: v, name: "the order of claims", want: &v.ready}
}

// NextType begins the next type.
func (o *OrderWalk) NextType() { o.last = nil }

// Next looks at the next job of the order.
func (o *OrderWalk) Next(j *rota.Job) {
	o.seen.add(j)
	if o.last != nil && !o.last.Before(j) {
		o.v.pairViolation(rota.CheckOrderTotal, o.last.ID, j.ID, "%s has the first before the second", o.name)
	}
	o.last = j
}

// End compares what was walked with what should have been.
func (o *OrderWalk) End() {
	switch {
	case o.seen.jobs != o.want.jobs:
		o.v.violation(rota.CheckOrderTotal, []string{o.name}, "it holds %d jobs, but %d belong into it", o.seen.jobs, o.want.jobs)
	case o.seen.sum != o.want.sum:
		o.v.violation(rota.CheckOrderTotal, []string{o.name}, "it has jobs at places where the jobs themselves are not")
	}
}
