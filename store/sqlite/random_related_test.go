package sqlite

import (
	"fmt"
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

// TestVerifyIsCleanAfterRandomCommandsOnRelatedRows sends random commands on schedules, groups,
// limits and reservations. Verify finds nothing, also while intents wait for Sweep.
func TestVerifyIsCleanAfterRandomCommandsOnRelatedRows(t *testing.T) {
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			s := openTest(t, Config{})
			c := &relatedLoad{randomLoad: newRandomLoad(t, s, seed)}
			for range 20 {
				c.run(50)
				if verifyClean(t, s); t.Failed() {
					return
				}
			}
		})
	}
}

// relatedLoad is a randomLoad with related rows.
type relatedLoad struct {
	*randomLoad
	groups       []rota.ID
	reservations []rota.ID
}

func (c *relatedLoad) run(steps int) {
	acts := []func(){
		c.enqueue, c.claim, c.claim, c.claim, c.finish, c.finish, c.finish, c.finish, c.cancel, c.edit, c.move, c.ready,
		c.normalise, c.reap, c.recover, c.randomLoad.enqueue,
		c.fire, c.fire, c.fire, c.declare, c.declare, c.switchSchedule, c.triggerAndBackfill, c.define, c.expire,
		c.group, c.group, c.cancelGroup, c.limit, c.sweep, c.redrive, c.redrive, c.prune, c.reserve, c.direct, c.all,
	}
	for range steps {
		c.now = c.now.Add(time.Duration(c.random.IntN(20_000)-2_000) * time.Millisecond)
		acts[c.random.IntN(len(acts))]()
	}
}

func (c *relatedLoad) pick(names ...string) string { return names[c.random.IntN(len(names))] }
func (c *relatedLoad) schedule() string            { return c.pick("s0", "s1", "s2", "s3") }
func (c *relatedLoad) template() string            { return c.pick("t0", "t1") }

func (c *relatedLoad) newJob() rota.NewJob {
	nj := rota.NewJob{
		Type: c.pick("mail", "web", "idle"), Priority: new(c.random.IntN(2)), ConcurrencyKey: new(c.pick("", "k0", "k1")),
		MaxRetries: new(c.random.IntN(2)), Backoff: new(time.Duration(c.random.IntN(30)) * time.Second),
	}
	switch c.random.IntN(6) {
	case 0:
		nj.Delay = time.Duration(c.random.IntN(120)) * time.Second
	case 1:
		nj.UniqueKey, nj.UniqueFor = fmt.Sprint("unique", c.random.IntN(8)), time.Duration(c.random.IntN(3))*time.Minute
	case 2:
		nj.Type, nj.Template = "", c.template()
	}
	return nj
}

func (c *relatedLoad) remember(jobs ...*rota.Job) {
	for _, j := range jobs {
		c.jobs = append(c.jobs, j.ID)
	}
}

func (c *relatedLoad) enqueue() {
	if r, done := c.send(enqueue(c.newJob(), c.newJob())).(*rota.Enqueued); done {
		c.remember(r.Jobs[0].Job, r.Jobs[1].Job)
	}
}

// fire fires the due schedules, and now and then only some of them.
func (c *relatedLoad) fire() {
	all, err := c.s.Schedules(c.t.Context(), rota.ScheduleQuery{State: rota.ScheduleEnabled})
	must(c.t, err)
	for _, s := range all {
		if s.NextFire.IsZero() || s.NextFire.After(c.now) || c.random.IntN(4) == 0 {
			continue
		}
		plan, err := rota.PlanFire(rota.NewMeta(""), s, c.now, time.Time{})
		must(c.t, err)
		if r, done := c.send(plan).(*rota.Fired); done {
			c.remember(r.Jobs...)
		}
	}
}

func (c *relatedLoad) declare() {
	spec := rota.ScheduleSpec{
		Template: c.template(), Overlap: rota.Overlap(c.pick("allow", "skip", "cancel")),
		CatchUp: rota.CatchUp(c.pick("none", "last", "all")),
	}
	switch c.random.IntN(3) {
	case 0:
		spec.At = c.now.Add(time.Duration(c.random.IntN(60)) * time.Second)
		spec.OnCompletion = rota.OnCompletion(c.pick("preserve", "drop"))
	default:
		spec.Every = time.Duration(20+c.random.IntN(60)) * time.Second
	}
	if c.random.IntN(2) == 0 {
		spec.DependsOn = []string{c.schedule()}
	}
	if c.random.IntN(2) == 0 {
		spec.Scopes = []rota.Scope{{Kind: "shard", ID: "1"}, {Kind: "shard", ID: "2"}}
	}
	if put, err := rota.Declare(rota.NewMeta("ada"), c.schedule(), spec, c.now); err == nil {
		put.State = rota.ScheduleState(c.pick("", "", "PAUSED", "ENABLED"))
		c.send(put)
	}
}

func (c *relatedLoad) switchSchedule() {
	name := c.schedule()
	s, err := c.s.Schedule(c.t.Context(), name)
	switch {
	case err != nil:
	case c.random.IntN(5) == 0:
		c.send(&rota.DeleteSchedule{Meta: rota.NewMeta("ada"), Name: name})
	default:
		to := &rota.SwitchSchedule{Meta: rota.NewMeta("ada"), Name: name, State: rota.ScheduleState(c.pick("ENABLED", "ENABLED", "PAUSED", "DISABLED"))}
		if to.State == rota.ScheduleEnabled {
			to.Next, err = s.NextAfter(c.now)
			must(c.t, err)
		}
		c.send(to)
	}
}

func (c *relatedLoad) triggerAndBackfill() {
	if r, done := c.send(&rota.Trigger{Meta: rota.NewMeta("ada"), Schedule: c.schedule()}).(*rota.Triggered); done {
		c.remember(r.Jobs...)
	}
	if s, err := c.s.Schedule(c.t.Context(), c.schedule()); err == nil {
		if plan, err := rota.PlanBackfill(rota.NewMeta("ada"), s, c.now.Add(-2*time.Minute), c.now, c.now); err == nil && len(plan.Times) > 0 {
			c.send(plan)
		}
	}
}

func (c *relatedLoad) define() {
	name := c.template()
	switch c.random.IntN(4) {
	case 0:
		c.send(&rota.Archive{Meta: rota.NewMeta("ada"), Name: name})
	case 1:
		c.send(&rota.SwitchType{Meta: rota.NewMeta("ada"), Name: "web", Paused: c.random.IntN(2) == 0})
	default:
		c.send(&rota.PutType{Meta: rota.NewMeta("ada"), Name: "web", Spec: rota.TypeSpec{Policy: rota.PolicyPatch{MaxRetries: new(c.random.IntN(2))}}})
		c.send(&rota.PutTemplate{Meta: rota.NewMeta("ada"), Name: name, Spec: rota.TemplateSpec{
			Type: c.pick("mail", "web"), ConcurrencyKey: c.pick("", "k0", "k1"), Priority: new(c.random.IntN(2)),
		}})
		c.send(&rota.Unarchive{Meta: rota.NewMeta("ada"), Name: name})
	}
}

func (c *relatedLoad) expire() {
	c.send(&rota.Expire{Meta: rota.NewMeta(""), Limit: 1 + c.random.IntN(3)})
}

func (c *relatedLoad) sweep() {
	c.send(&rota.Sweep{Meta: rota.NewMeta(""), Limit: 1 + c.random.IntN(60)})
}

// group now and then creates more members than one command can end.
func (c *relatedLoad) group() {
	g := &rota.EnqueueGroup{
		Meta: rota.NewMeta("ada"), Mode: rota.GroupMode(c.pick("parallel", "sequential")),
		OnFailure: rota.OnFailure(c.pick("continue", "stop", "skip")),
	}
	size := 1 + c.random.IntN(4)
	if c.random.IntN(8) == 0 {
		size += rota.MembersMax
	}
	for range size {
		nj := c.newJob()
		nj.UniqueKey, nj.UniqueFor = "", 0
		g.Jobs = append(g.Jobs, nj)
	}
	if r, done := c.send(g).(*rota.GroupEnqueued); done {
		c.groups = append(c.groups, r.Group.ID)
		c.remember(r.Jobs...)
	}
}

func (c *relatedLoad) withGroup(use func(rota.ID)) {
	if len(c.groups) > 0 {
		use(c.groups[c.random.IntN(len(c.groups))])
	}
}

func (c *relatedLoad) cancelGroup() {
	c.withGroup(func(id rota.ID) { c.send(&rota.CancelGroup{Meta: rota.NewMeta("ada"), GroupID: id}) })
}

func (c *relatedLoad) limit() {
	spec := rota.ThrottleSpec{Global: c.random.IntN(2) * 8}
	for _, key := range []string{"k0", "k1"} {
		if n := c.random.IntN(6) - 2; n > 0 {
			spec.Keys = append(spec.Keys, rota.KeyLimit{Key: key, Concurrency: n})
		}
	}
	if n := c.random.IntN(4); n > 0 {
		spec.EachKey = []rota.EachKeyLimit{{Pattern: []string{"*", "k*", "k1*"}[n-1], Concurrency: n}}
	}
	if n := c.random.IntN(4); n > 0 {
		spec.EachKeyOfType = []rota.EachKeyOfTypeLimit{{Type: c.pick("mail", "web"), Concurrency: n}}
	}
	if c.random.IntN(2) == 0 {
		spec.Types = []rota.TypeLimit{{Type: "web", Concurrency: 3, Rate: rota.Rate{Count: 1 + c.random.IntN(5), Per: time.Minute}}}
	}
	c.send(&rota.PutThrottle{Meta: rota.NewMeta("ada"), Spec: spec})
}

func (c *relatedLoad) redrive() {
	c.withJob(func(id rota.ID) {
		if r, done := c.send(&rota.Redrive{Meta: rota.NewMeta("ada"), JobID: id}).(*rota.Redriven); done {
			c.remember(r.Job)
		}
	})
}

func (c *relatedLoad) prune() {
	p := &rota.Prune{Meta: rota.NewMeta("")}
	chosen := map[rota.ID]bool{}
	for range 10 {
		c.withJob(func(id rota.ID) {
			if !chosen[id] {
				p.Executions = append(p.Executions, id)
			}
			chosen[id] = true
		})
	}
	if c.random.IntN(2) == 0 {
		p.Before = c.now.Add(-time.Minute)
	}
	if len(p.Executions) > 0 {
		c.send(p)
	}
}

func (c *relatedLoad) reserve() {
	r, done := c.send(&rota.Reserve{Meta: rota.NewMeta("ada"), Node: c.pick("node", "n1"), Incarnation: incarnation, For: time.Minute}).(*rota.Reserved)
	switch {
	case done:
		c.reservations = append(c.reservations, r.Reservation.ID)
	case len(c.reservations) > 0:
		c.send(&rota.Release{Meta: rota.NewMeta("ada"), ReservationID: c.reservations[len(c.reservations)-1]})
	}
}

func (c *relatedLoad) direct() {
	if len(c.reservations) == 0 {
		return
	}
	nj := rota.NewJob{Type: c.pick("mail", "web"), ConcurrencyKey: new(c.pick("", "k0", "k1"))}
	d := &rota.Direct{
		Meta: rota.NewMeta("ada"), ReservationID: c.reservations[len(c.reservations)-1], Job: nj, Lease: time.Minute,
		Seed: rota.Token(rota.NewID()),
	}
	if r, done := c.send(d).(*rota.Directed); done {
		c.remember(r.Job)
		c.leases = append(c.leases, lease(r.Job))
	}
}

// all sends several commands in one step. Each sees the changes of those before it.
func (c *relatedLoad) all() {
	all := &rota.All{Meta: rota.NewMeta("ada")}
	for range 2 {
		c.withJob(func(id rota.ID) {
			all.Members = append(all.Members, &rota.Cancel{Meta: rota.NewMeta("ada"), JobID: id})
		})
	}
	c.withGroup(func(id rota.ID) {
		all.Members = append(all.Members, &rota.CancelGroup{Meta: rota.NewMeta("ada"), GroupID: id})
	})
	all.Members = append(all.Members, enqueue(c.newJob()))
	c.send(all)
}
