package verify

import "github.com/rotajobs/rota"

// orderChecksum counts jobs and adds up hashes of the fields that decide the
// order. The sum does not depend on the order in which jobs are added. Equal
// checksums mean the same jobs in the same positions.
type orderChecksum struct {
	jobs int
	sum  uint64
}

func (c *orderChecksum) add(j *rota.Job) {
	c.jobs++
	c.sum += placeHash(j)
}

// placeHash hashes the fields that decide the order. It need not resist design,
// since a damaged index differs by accident.
func placeHash(j *rota.Job) uint64 {
	h := mix(0, uint64(j.Priority))
	h = mix(h, uint64(j.Position))
	h = mix(h, uint64(j.CreatedAt.UnixMicro()))
	return mix(h, fingerprintOf(j.ID))
}

// countQueued adds a job to the checksums of the orders it belongs to.
func (v *Verifier) countQueued(j *rota.Job) {
	if j.Status == rota.StatusQueued {
		v.queue.add(j)
	}
	if j.Ready() {
		v.ready.add(j)
	}
}

// OrderWalk checks an order as a store keeps it, from its head. Its jobs need
// only the fields that decide the order.
type OrderWalk struct {
	v    *Verifier
	name string
	want *orderChecksum
	seen orderChecksum
	last *rota.Job
}

// QueueOrder begins the walk of the order of all QUEUED jobs. All calls of Job
// come first.
func (v *Verifier) QueueOrder() *OrderWalk {
	return &OrderWalk{v: v, name: "the order of the queue", want: &v.queue}
}

// ClaimOrder begins the walk of the dispatch order, type by type.
func (v *Verifier) ClaimOrder() *OrderWalk {
	return &OrderWalk{v: v, name: "the order of claims", want: &v.ready}
}

// NextType begins the next type.
func (o *OrderWalk) NextType() { o.last = nil }

// Next checks the next job of the order.
func (o *OrderWalk) Next(j *rota.Job) {
	o.seen.add(j)
	if o.last != nil && !o.last.Before(j) {
		o.v.pairViolation(rota.CheckOrderTotal, o.last.ID, j.ID, "%s has the first before the second", o.name)
	}
	o.last = j
}

// End compares the jobs of the walk with the jobs that belong to the order.
func (o *OrderWalk) End() {
	switch {
	case o.seen.jobs != o.want.jobs:
		o.v.violation(rota.CheckOrderTotal, []string{o.name}, "it has %d jobs, but should have %d", o.seen.jobs, o.want.jobs)
	case o.seen.sum != o.want.sum:
		o.v.violation(rota.CheckOrderTotal, []string{o.name}, "it has jobs at positions that differ from those in the jobs")
	}
}
