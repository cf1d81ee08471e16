package rules

import (
	"slices"
	"time"

	"github.com/rotajobs/rota"
)

// Need lists the rows that a step has to read and that are not loaded yet. Its
// methods return rows of the unit of work and list those that are missing.
type Need struct {
	unit       *UnitOfWork
	setTime    func() error // sets the time of the unit of work; nil: it is set
	fullLeases bool         // leases are loaded as full jobs, since more may be decided about them

	Leases     []rota.ID // jobs with their runs, as far as a heartbeat or the end of a run needs them
	SkipLocked bool      // leases that other transactions have locked are passed to PutLocked
	FullJobs   []rota.ID // jobs with all fields
	NewJobs    []rota.ID // jobs to be created: they exist only if an earlier sending created them
	Retries    []rota.ID // the job that retries this one
	Chains     []rota.ID // the last job of the chain that contains this one
	Keys       []UniqueKey
	Plans      []Plan
	Tails      []int     // priorities: the last QUEUED job
	Audits     []rota.ID // whether such an audit entry exists

	Types        []string
	Templates    []string
	Schedules    []string
	Groups       []rota.ID
	Reservations []rota.ID
	Requests     []RequestKey
	Buckets      []string
	Dropped      []string // schedules
	Throttle     bool     // the limits in force
	Webhooks     bool     // the webhooks of all events
	Active       bool     // the active reservation

	JobsOf              []JobsOf
	Planned             []Planned
	Members             []Members
	Blocked             []Blocked
	OverlapWaiting      []OverlapWaiting
	Latest              []Latest
	Dependents          []Dependents
	Reach               []Reach
	Using               []Using
	KeyQueues           []KeyQueue
	Open                []OpenCount
	Redriven            []Redriven
	Attempts            []Attempts
	ExpiredWaits        []ExpiredWaits
	Intents             []Intents
	ExpiredReservations []ExpiredReservations
	ExpiredRequests     []ExpiredRequests
	DroppedJobs         []DroppedJobs

	ClaimedBefore *ClaimedBefore
	Heads         *Heads
	Due           *Due
	Stale         *Stale
	Unsettled     *Unsettled
	Order         []OrderPage
}

// ClaimedBefore queries the jobs that an earlier sending of a claim took, in
// full, in dispatch order.
type ClaimedBefore struct{ Command rota.ID }

// Heads queries the first ready jobs of some types, in full, in dispatch order.
// A store merges the heads of the type queues, so a type that is not listed, or
// has no capacity, costs nothing.
type Heads struct {
	Types    []string // distinct
	Capacity []int    // at most so many of each type
	Limit    int
	Shared   int // at most so many of all types but the internal ones, which do not count
	Bytes    int // of params; the first job is returned even if it is longer
	// AfterEnqueues is set if the transaction creates jobs and takes those if
	// no others are ready. The store then only needs to find out whether there
	// are others.
	AfterEnqueues bool
}

// Unlimited reports whether every type has capacity for the whole claim.
func (h *Heads) Unlimited() bool {
	return h.Shared >= h.Limit && !slices.ContainsFunc(h.Capacity, func(capacity int) bool { return capacity < h.Limit })
}

// Due queries delayed jobs whose time has come, in run_at order.
type Due struct {
	Now   time.Time
	Limit int
}

// Stale queries open runs whose lease ended before Before or ends after Ahead,
// except those of one incarnation, in (stale_after, job id) order.
type Stale struct {
	Before, Ahead time.Time
	Except        rota.ID
	Limit         int
}

// Unsettled queries RUNNING jobs that were not settled, except those with an
// open run of another process, in id order.
type Unsettled struct {
	Runner      string
	Incarnation rota.ID
	Limit       int
}

// OrderPage queries QUEUED jobs of one priority, held ones included, in
// dispatch order from a job on, or in reverse, without that job itself. With a
// zero From it begins at the first or last job.
type OrderPage struct {
	Priority int
	From     rota.ID
	Back     bool
	Limit    int
}

// empty reports whether nothing is missing. Every field but the first three,
// and SkipLocked, is a query.
func (n *Need) empty() bool {
	return len(n.Leases)+len(n.FullJobs)+len(n.NewJobs)+len(n.Retries)+len(n.Chains)+len(n.Keys)+len(n.Plans)+len(n.Tails)+len(n.Audits)+len(n.Order) == 0 &&
		n.ClaimedBefore == nil && n.Heads == nil && n.Due == nil && n.Stale == nil && n.Unsettled == nil && n.emptyRelations()
}

// limitsKnown reports whether everything that limits a claim is loaded.
func (n *Need) limitsKnown() bool {
	return !n.Throttle && !n.Active && len(n.Types)+len(n.Open)+len(n.Buckets)+len(n.Reservations) == 0
}

// emptyRelations reports whether no definition and no related row is missing.
func (n *Need) emptyRelations() bool {
	return !n.Throttle && !n.Webhooks && !n.Active &&
		len(n.Types)+len(n.Templates)+len(n.Schedules)+len(n.Groups)+len(n.Reservations)+len(n.Requests)+len(n.Buckets)+
			len(n.JobsOf)+len(n.Planned)+len(n.Members)+len(n.Blocked)+len(n.OverlapWaiting)+len(n.Latest)+len(n.Dependents)+len(n.Reach)+
			len(n.Using)+len(n.KeyQueues)+len(n.Open)+len(n.Redriven)+len(n.Attempts)+len(n.ExpiredWaits)+len(n.Intents)+len(n.ExpiredReservations)+len(n.ExpiredRequests)+len(n.DroppedJobs)+len(n.Dropped) == 0
}

// lease returns the job of a lease, nil if it is absent or not loaded yet.
func (n *Need) lease(id rota.ID) *rota.Job {
	if n.fullLeases {
		return n.job(id)
	}
	r, known := n.unit.jobs[id]
	if !known {
		n.unit.jobs[id] = n.unit.newRow()
		n.Leases = append(n.Leases, id)
		return nil
	}
	return r.is
}

// updateTime sets the time of the unit of work.
func (n *Need) updateTime() error {
	if n.setTime == nil {
		return nil
	}
	return n.setTime()
}

// job returns a job with all fields, nil if it is absent or not loaded yet.
func (n *Need) job(id rota.ID) *rota.Job { return n.jobInto(&n.FullJobs, id) }

// newJob returns a job that is to be created, nil unless an earlier sending
// created it.
func (n *Need) newJob(id rota.ID) *rota.Job { return n.jobInto(&n.NewJobs, id) }

func (n *Need) jobInto(wanted *[]rota.ID, id rota.ID) *rota.Job {
	r, known := n.unit.jobs[id]
	if !known {
		r = n.unit.newRow()
		n.unit.jobs[id] = r
	}
	if !known || (r.is != nil && r.is.Params == nil && !r.queried) {
		r.queried = true
		*wanted = append(*wanted, id)
		return nil
	}
	return r.is
}

// tailOfChain returns the last job of the chain that a job belongs to.
func (n *Need) tailOfChain(id rota.ID) *rota.Job {
	j := n.job(id)
	if j == nil || j.Sequel != rota.SequelRetry {
		return j
	}
	if _, known := n.unit.chains[id]; !known {
		n.unit.chains[id] = id
		n.Chains = append(n.Chains, id)
		return nil
	}
	return n.job(n.unit.tailOfChain(id))
}

// retry returns the id of the job that retries this one, zero if none does.
func (n *Need) retry(of rota.ID) rota.ID {
	id, known := n.unit.retries[of]
	if !known {
		n.unit.retries[of] = rota.ID{}
		n.Retries = append(n.Retries, of)
	}
	return id
}

func (n *Need) key(k UniqueKey) *UniqueKeyRecord { return n.unit.keys.lookup(&n.Keys, k) }

func (n *Need) plan(p Plan) rota.ID {
	id, known := n.unit.plans[p]
	if !known {
		n.unit.plans[p] = rota.ID{}
		n.Plans = append(n.Plans, p)
	}
	return id
}

func (n *Need) tail(priority int) {
	if _, known := n.unit.tails[priority]; !known {
		n.unit.tails[priority] = n.unit.ownTail(priority)
		n.Tails = append(n.Tails, priority)
	}
}

// audited queries whether an earlier sending of the command wrote an audit
// entry about a job.
func (n *Need) audited(c rota.Command, job rota.ID) {
	id := rota.AuditID(c.Head().ID, c.Verb(), job)
	if _, known := n.unit.auditIDs[id]; !known {
		n.unit.auditIDs[id] = false
		n.Audits = append(n.Audits, id)
	}
}

// page returns jobs next to one in the order; false if they are not loaded yet.
func (n *Need) page(p OrderPage) ([]rota.ID, bool) {
	ids, known := n.unit.pages[p]
	if !known {
		n.unit.pages[p] = nil
		n.Order = append(n.Order, p)
	}
	return ids, known
}

func (n *Need) claimedBefore(t ClaimedBefore) ([]rota.ID, bool) {
	if !n.unit.claimedBefore.queried {
		n.unit.claims = append(n.unit.claims, t.Command)
	}
	return queryOnce(&n.unit.claimedBefore, &n.ClaimedBefore, t)
}

func (n *Need) heads(h Heads) ([]rota.ID, bool) {
	return queryOnce(&n.unit.heads, &n.Heads, h)
}

func (n *Need) due(d Due) ([]rota.ID, bool) {
	return queryOnce(&n.unit.due, &n.Due, d)
}

func (n *Need) stale(s Stale) ([]rota.ID, bool) {
	return queryOnce(&n.unit.stale, &n.Stale, s)
}

func (n *Need) unsettled(l Unsettled) ([]rota.ID, bool) {
	return queryOnce(&n.unit.unsettled, &n.Unsettled, l)
}

// queryOnce adds a query of one of the orders, once.
func queryOnce[Q any](f *orderResult, slot **Q, query Q) ([]rota.ID, bool) {
	if f.queried {
		return f.ids, true
	}
	f.queried = true
	*slot = &query
	return nil, false
}
