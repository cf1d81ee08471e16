package rules

import (
	"encoding/binary"
	"slices"

	"github.com/rotajobs/rota"
)

// prints are fingerprints of things that came by, 8 bytes each: a million of
// the things themselves would not fit into memory. They lie in buckets by
// their first byte, so that growing one moves little. What two of them say
// together is a doubt, to be settled by a second look at the things.
type prints [256][]uint64

func (p *prints) add(print uint64) { p[print>>56] = append(p[print>>56], print) }

func (p *prints) sort() {
	for _, bucket := range p {
		slices.Sort(bucket)
	}
}

// doubles are the prints that came more than once. They are sorted before.
func (p *prints) doubles() map[uint64]bool {
	found := map[uint64]bool{}
	for _, bucket := range p {
		for i := 1; i < len(bucket); i++ {
			if bucket[i] == bucket[i-1] {
				found[bucket[i]] = true
			}
		}
	}
	return found
}

// without are the prints that other does not have. Both are sorted before.
func (p *prints) without(other *prints) map[uint64]bool {
	found := map[uint64]bool{}
	for b, bucket := range p {
		for _, print := range bucket {
			if _, there := slices.BinarySearch(other[b], print); !there {
				found[print] = true
			}
		}
	}
	return found
}

// printOf mixes an id (the finaliser of SplitMix64, word by word): ids made
// together share their first half.
func printOf(id rota.ID) uint64 {
	return mix(mix(0, binary.BigEndian.Uint64(id[:8])), binary.BigEndian.Uint64(id[8:]))
}

func mix(h, word uint64) uint64 {
	h += word + 0x9e3779b97f4a7c15
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}

// doubts are the prints that need a second look, and what was seen in it.
type doubts struct {
	runs, plans, retries map[uint64]bool // came twice
	owed                 map[uint64]bool // were to be retried, and no retry came

	runOf   map[rota.ID]rota.ID
	planOf  map[Plan]rota.ID
	retryOf map[rota.ID]rota.ID
}

// NeedsSecondPass says whether the jobs must be streamed once more, into Again: some of
// them seem to share what only one may have. In a healthy store it is false.
func (v *Verifier) NeedsSecondPass() bool {
	for _, p := range []*prints{&v.runs, &v.plans, &v.retries, &v.owed} {
		p.sort()
	}
	v.doubts = doubts{
		runs: v.runs.doubles(), plans: v.plans.doubles(), retries: v.retries.doubles(), owed: v.owed.without(&v.retries),
		runOf: map[rota.ID]rota.ID{}, planOf: map[Plan]rota.ID{}, retryOf: map[rota.ID]rota.ID{},
	}
	d := &v.doubts
	return len(d.runs)+len(d.plans)+len(d.retries)+len(d.owed) > 0
}

// SecondPass looks at a job for the second time, and names those in doubt.
func (v *Verifier) SecondPass(j *rota.Job) {
	d := &v.doubts
	if j.Run != nil && d.runs[printOf(j.Run.ID)] {
		if other, taken := d.runOf[j.Run.ID]; taken {
			v.pair(rota.CheckDoubleRun, other, j.ID, "both have run %s", j.Run.ID)
		}
		d.runOf[j.Run.ID] = j.ID
	}
	if plan, planned := firstPlan(j); planned && d.plans[plan.print()] {
		if other, taken := d.planOf[plan]; taken {
			v.pair(rota.CheckPlanTwice, other, j.ID, "both are planned as %s for %s %s at %s",
				plan.Name, plan.ScopeKind, plan.ScopeID, stamp(j.PlanTime))
		}
		d.planOf[plan] = j.ID
	}
	if !j.RetryOf.IsZero() && d.retries[printOf(j.RetryOf)] {
		if other, taken := d.retryOf[j.RetryOf]; taken {
			v.pair(rota.CheckRetryTwice, other, j.ID, "both retry %s", jobRef(j.RetryOf))
		}
		d.retryOf[j.RetryOf] = j.ID
	}
	if j.Sequel == rota.SequelRetry && d.owed[printOf(j.ID)] {
		v.about(j.ID, rota.CheckRetryMissing, "its sequel is retry, but no job retries it")
	}
}

// remember keeps the prints of what only one job may have.
func (v *Verifier) remember(j *rota.Job) {
	if j.Run != nil && !j.Run.ID.IsZero() {
		v.runs.add(printOf(j.Run.ID))
	}
	if plan, planned := firstPlan(j); planned {
		v.plans.add(plan.print())
	}
	if !j.RetryOf.IsZero() {
		v.retries.add(printOf(j.RetryOf))
	}
	if j.Sequel == rota.SequelRetry {
		v.owed.add(printOf(j.ID))
	}
}

// firstPlan is the plan key of a first attempt: retries share theirs.
func firstPlan(j *rota.Job) (Plan, bool) {
	plan, planned := PlanOf(j)
	return plan, planned && j.RetryOf.IsZero()
}

func (p Plan) print() uint64 {
	h := mix(0, uint64(p.Time))
	for _, part := range []string{p.Name, p.ScopeKind, p.ScopeID} {
		h = mix(h, uint64(len(part)))
		for i := range len(part) {
			h = mix(h, uint64(part[i]))
		}
	}
	return h
}
