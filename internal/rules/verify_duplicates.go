package rules

import (
	"encoding/binary"
	"slices"

	"github.com/rotajobs/rota"
)

// fingerprints are fingerprints of things that came by, 8 bytes each: a million of
// the things themselves would not fit into memory. They lie in buckets by
// their first byte, so that growing one moves little. What two of them say
// together is a doubt, to be settled by a second look at the things.
type fingerprints [256][]uint64

func (p *fingerprints) add(fingerprint uint64) {
	p[fingerprint>>56] = append(p[fingerprint>>56], fingerprint)
}

func (p *fingerprints) sort() {
	for _, bucket := range p {
		slices.Sort(bucket)
	}
}

// duplicates are the prints that came more than once. They are sorted before.
func (p *fingerprints) duplicates() map[uint64]bool {
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

// missingFrom are the prints that other does not have. Both are sorted before.
func (p *fingerprints) missingFrom(other *fingerprints) map[uint64]bool {
	found := map[uint64]bool{}
	for b, bucket := range p {
		for _, fingerprint := range bucket {
			if _, there := slices.BinarySearch(other[b], fingerprint); !there {
				found[fingerprint] = true
			}
		}
	}
	return found
}

// fingerprintOf mixes an id (the finaliser of SplitMix64, word by word): ids made
// together share their first half.
func fingerprintOf(id rota.ID) uint64 {
	return mix(mix(0, binary.BigEndian.Uint64(id[:8])), binary.BigEndian.Uint64(id[8:]))
}

func mix(h, word uint64) uint64 {
	h += word + 0x9e3779b97f4a7c15
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}

// suspects are the prints that need a second look, and what was seen in it.
type suspects struct {
	runs, plans, retries map[uint64]bool // came twice
	owed                 map[uint64]bool // were to be retried, and no retry came

	runOf   map[rota.ID]rota.ID
	planOf  map[Plan]rota.ID
	retryOf map[rota.ID]rota.ID
}

// NeedsSecondPass says whether the jobs must be streamed once more, into Again: some of
// them seem to share what only one may have. In a healthy store it is false.
func (v *Verifier) NeedsSecondPass() bool {
	for _, p := range []*fingerprints{&v.runs, &v.plans, &v.retries, &v.owed} {
		p.sort()
	}
	v.suspects = suspects{
		runs: v.runs.duplicates(), plans: v.plans.duplicates(), retries: v.retries.duplicates(), owed: v.owed.missingFrom(&v.retries),
		runOf: map[rota.ID]rota.ID{}, planOf: map[Plan]rota.ID{}, retryOf: map[rota.ID]rota.ID{},
	}
	d := &v.suspects
	return len(d.runs)+len(d.plans)+len(d.retries)+len(d.owed) > 0
}

// SecondPass looks at a job for the second time, and names those in doubt.
func (v *Verifier) SecondPass(j *rota.Job) {
	d := &v.suspects
	if j.Run != nil && d.runs[fingerprintOf(j.Run.ID)] {
		if other, taken := d.runOf[j.Run.ID]; taken {
			v.pairViolation(rota.CheckDoubleRun, other, j.ID, "both have run %s", j.Run.ID)
		}
		d.runOf[j.Run.ID] = j.ID
	}
	if plan, planned := firstPlan(j); planned && d.plans[plan.fingerprint()] {
		if other, taken := d.planOf[plan]; taken {
			v.pairViolation(rota.CheckPlanTwice, other, j.ID, "both are planned as %s for %s %s at %s",
				plan.Name, plan.ScopeKind, plan.ScopeID, stamp(j.PlanTime))
		}
		d.planOf[plan] = j.ID
	}
	if !j.RetryOf.IsZero() && d.retries[fingerprintOf(j.RetryOf)] {
		if other, taken := d.retryOf[j.RetryOf]; taken {
			v.pairViolation(rota.CheckRetryTwice, other, j.ID, "both retry %s", jobRef(j.RetryOf))
		}
		d.retryOf[j.RetryOf] = j.ID
	}
	if j.Sequel == rota.SequelRetry && d.owed[fingerprintOf(j.ID)] {
		v.jobViolation(j.ID, rota.CheckRetryMissing, "its sequel is retry, but no job retries it")
	}
}

// recordFingerprints keeps the prints of what only one job may have.
func (v *Verifier) recordFingerprints(j *rota.Job) {
	if j.Run != nil && !j.Run.ID.IsZero() {
		v.runs.add(fingerprintOf(j.Run.ID))
	}
	if plan, planned := firstPlan(j); planned {
		v.plans.add(plan.fingerprint())
	}
	if !j.RetryOf.IsZero() {
		v.retries.add(fingerprintOf(j.RetryOf))
	}
	if j.Sequel == rota.SequelRetry {
		v.owed.add(fingerprintOf(j.ID))
	}
}

// firstPlan is the plan key of a first attempt: retries share theirs.
func firstPlan(j *rota.Job) (Plan, bool) {
	plan, planned := PlanOf(j)
	return plan, planned && j.RetryOf.IsZero()
}

func (p Plan) fingerprint() uint64 {
	h := mix(0, uint64(p.Time))
	for _, part := range []string{p.Name, p.ScopeKind, p.ScopeID} {
		h = mix(h, uint64(len(part)))
		for i := range len(part) {
			h = mix(h, uint64(part[i]))
		}
	}
	return h
}
