package verify

import (
	"encoding/binary"
	"slices"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
)

// fingerprints holds 8-byte fingerprints of values, since millions of the
// values would not fit into memory. Buckets by the first byte keep the cost of
// growing small. Equal fingerprints are not proof; SecondPass compares the
// values.
type fingerprints [256][]uint64

func (p *fingerprints) add(fingerprint uint64) {
	p[fingerprint>>56] = append(p[fingerprint>>56], fingerprint)
}

func (p *fingerprints) sort() {
	for _, bucket := range p {
		slices.Sort(bucket)
	}
}

// duplicates returns the fingerprints that occur more than once. The buckets
// must be sorted.
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

// missingFrom returns the fingerprints that other does not have. Both must be
// sorted.
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

// fingerprintOf hashes an id with the finaliser of SplitMix64, word by word,
// since ids created together share their first half.
func fingerprintOf(id rota.ID) uint64 {
	return mix(mix(0, binary.BigEndian.Uint64(id[:8])), binary.BigEndian.Uint64(id[8:]))
}

func mix(h, word uint64) uint64 {
	h += word + 0x9e3779b97f4a7c15
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}

// suspects are the fingerprints that need a second pass, and the values found
// in it.
type suspects struct {
	runs, plans, retries map[uint64]bool // occur twice
	owed                 map[uint64]bool // should be retried and have no retry

	runOf   map[rota.ID]rota.ID
	planOf  map[rules.Plan]rota.ID
	retryOf map[rota.ID]rota.ID
}

// NeedsSecondPass reports whether the jobs must be streamed once more, into
// SecondPass, because some of them seem to share what only one may have. In a
// healthy store it is false.
func (v *Verifier) NeedsSecondPass() bool {
	for _, p := range []*fingerprints{&v.runs, &v.plans, &v.retries, &v.owed} {
		p.sort()
	}
	v.suspects = suspects{
		runs: v.runs.duplicates(), plans: v.plans.duplicates(), retries: v.retries.duplicates(), owed: v.owed.missingFrom(&v.retries),
		runOf: map[rota.ID]rota.ID{}, planOf: map[rules.Plan]rota.ID{}, retryOf: map[rota.ID]rota.ID{},
	}
	d := &v.suspects
	return len(d.runs)+len(d.plans)+len(d.retries)+len(d.owed) > 0
}

// SecondPass checks a job for the second time and reports duplicates.
func (v *Verifier) SecondPass(j *rota.Job) {
	d := &v.suspects
	if j.Run != nil && d.runs[fingerprintOf(j.Run.ID)] {
		if other, taken := d.runOf[j.Run.ID]; taken {
			v.pairViolation(rota.CheckDoubleRun, other, j.ID, "both have run %s", j.Run.ID)
		}
		d.runOf[j.Run.ID] = j.ID
	}
	if plan, planned := firstPlan(j); planned && d.plans[fingerprint(plan)] {
		if other, taken := d.planOf[plan]; taken {
			v.pairViolation(rota.CheckPlanTwice, other, j.ID, "both are planned as %s for %s %s at %s",
				plan.Name, plan.ScopeKind, plan.ScopeID, rules.Stamp(j.PlanTime))
		}
		d.planOf[plan] = j.ID
	}
	if !j.RetryOf.IsZero() && d.retries[fingerprintOf(j.RetryOf)] {
		if other, taken := d.retryOf[j.RetryOf]; taken {
			v.pairViolation(rota.CheckRetryTwice, other, j.ID, "both retry %s", rules.JobRef(j.RetryOf))
		}
		d.retryOf[j.RetryOf] = j.ID
	}
	if j.Sequel == rota.SequelRetry && d.owed[fingerprintOf(j.ID)] {
		v.jobViolation(j.ID, rota.CheckRetryMissing, "its sequel is retry, but no job retries it")
	}
}

// recordFingerprints keeps the fingerprints of values that only one job may
// have.
func (v *Verifier) recordFingerprints(j *rota.Job) {
	if j.Run != nil && !j.Run.ID.IsZero() {
		v.runs.add(fingerprintOf(j.Run.ID))
	}
	if plan, planned := firstPlan(j); planned {
		v.plans.add(fingerprint(plan))
	}
	if !j.RetryOf.IsZero() {
		v.retries.add(fingerprintOf(j.RetryOf))
	}
	if j.Sequel == rota.SequelRetry {
		v.owed.add(fingerprintOf(j.ID))
	}
}

// firstPlan returns the plan key of a first attempt. Retries have the same plan
// key and do not count.
func firstPlan(j *rota.Job) (rules.Plan, bool) {
	plan, planned := rules.PlanOf(j)
	return plan, planned && j.RetryOf.IsZero()
}

func fingerprint(p rules.Plan) uint64 {
	h := mix(0, uint64(p.Time))
	for _, part := range []string{p.Name, p.ScopeKind, p.ScopeID} {
		h = mix(h, uint64(len(part)))
		for i := range len(part) {
			h = mix(h, uint64(part[i]))
		}
	}
	return h
}
