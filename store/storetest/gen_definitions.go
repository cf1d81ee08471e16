package storetest

import (
	"time"

	"pgregory.net/rapid"

	"github.com/rotajobs/rota"
)

// Definitions are few, so that commands collide: two types, two templates, three schedules and
// two keys.

// definitionCommand generates one command about definitions, groups, limits, reservations or
// maintenance. Commands that create jobs are more frequent.
func (g *gen) definitionCommand() rota.Command {
	return choose(g, "company verb",
		g.putSchedule, g.putSchedule, g.putSchedule, g.fire, g.fire, g.fire, g.fire, g.fire, g.fire,
		g.trigger, g.trigger, g.backfill, g.enqueueGroup, g.enqueueGroup, g.cancelGroup,
		g.putTemplate, g.putTemplate, g.putTemplate, g.archive, g.unarchive, g.putType, g.switchType,
		g.putThrottle, g.putThrottle, g.switchSchedule, g.switchSchedule, g.deleteSchedule, g.drop, g.setOwner,
		g.reserve, g.direct, g.direct, g.release, g.expire, g.expire, g.sweep, g.sweep,
		g.prune, g.prune, g.redrive, g.redrive, g.remember, g.remember, g.putWebhooks,
		g.accessCommand, g.accessCommand, g.accessCommand, g.accessCommand,
	)()
}

// members returns the verbs that can be members of an All.
func (g *gen) members() []func() rota.Command {
	return []func() rota.Command{
		g.enqueue, g.enqueue, g.finish, g.finish, g.cancel, g.edit, g.note,
		g.putSchedule, g.putTemplate, g.putType, g.switchType, g.archive, g.unarchive, g.putThrottle,
		g.switchSchedule, g.deleteSchedule, g.drop, g.trigger, g.enqueueGroup, g.cancelGroup, g.redrive,
		g.putWebhooks, g.putPrincipal, g.dropPrincipal, g.grantPrivileges, g.grantPrivileges, g.setOwner, g.putSecret, g.deleteSecret,
	}
}

// learnDefinitions remembers the ids and versions of an answer about definitions, groups and
// reservations.
func (g *gen) learnDefinitions(reply rota.Reply) {
	switch r := reply.(type) {
	case *rota.Fired:
		g.learnJobs(r.Jobs)
	case *rota.Triggered:
		g.learnJobs(r.Jobs)
	case *rota.Backfilled:
		g.learnJobs(r.Jobs)
	case *rota.GroupEnqueued:
		g.learnJobs(r.Jobs)
		g.groups = append(g.groups, r.Group.ID)
	case *rota.Redriven:
		g.learnJobs([]*rota.Job{r.Job})
	case *rota.Directed:
		g.learnJobs([]*rota.Job{r.Job})
		if !r.Job.Run.Token.IsZero() {
			g.leases = append(g.leases, leaseOf(r.Job))
		}
	case *rota.Remembered:
		g.remembered = append(g.remembered, r.Command)
	case *rota.Reserved:
		g.reservations = append(g.reservations, r.Reservation.ID)
	case *rota.TypePut:
		if r.Type != nil {
			g.versions = append(g.versions, r.Type.Version)
		}
	case *rota.TemplatePut:
		if r.Template != nil {
			g.versions = append(g.versions, r.Template.Version)
		}
	case *rota.SchedulePut:
		if r.Schedule != nil {
			g.versions = append(g.versions, r.Schedule.Version)
		}
	case *rota.ThrottlePut:
		g.versions = append(g.versions, r.Throttle.Version)
	case *rota.WebhooksPut:
		g.versions = append(g.versions, r.Webhooks.Version)
	case *rota.PrincipalPut:
		if r.Principal != nil {
			g.versions = append(g.versions, r.Principal.Version)
		}
	}
}

func (g *gen) learnJobs(jobs []*rota.Job) {
	for _, j := range jobs {
		g.jobs = append(g.jobs, j.ID)
	}
}

func (g *gen) templateName() string { return choose(g, "template", "t", "t", "u", "none") }

func (g *gen) scheduleName() string { return choose(g, "schedule", "x", "y", "z") }

func (g *gen) typeName() string {
	return choose(g, "declared type", "a", "b", "a", "b", rota.TypeWebhook)
}

func (g *gen) mode() rota.PutMode {
	return choose(g, "mode", rota.PutAny, rota.PutAny, rota.PutAny, rota.PutAny, rota.PutCreate, rota.PutReplace)
}

// putVersion is usually nil.
func (g *gen) putVersion() *rota.ID {
	if g.rarely(4, "by version") {
		return g.version()
	}
	return nil
}

// templateAndKey sometimes sets a template or a concurrency key of a new job.
func (g *gen) templateAndKey(n *rota.NewJob) {
	if g.rarely(4, "from template") {
		n.Template = g.templateName()
		if !g.rarely(4, "type too") {
			n.Type = ""
		}
	}
	if g.rarely(3, "concurrency key") {
		n.ConcurrencyKey = new(choose(g, "key", "k", "k", "kk", "l", ""))
	}
}

func (g *gen) patch() rota.PolicyPatch {
	var n rota.NewJob
	g.policy(&n)
	return n.Patch()
}

func (g *gen) putType() rota.Command {
	return &rota.PutType{
		Meta: g.meta(), Name: g.typeName(), Mode: g.mode(), Version: g.putVersion(),
		Spec: rota.TypeSpec{Description: choose(g, "description", "", "d"), Schema: g.document(), Policy: g.patch()},
	}
}

func (g *gen) switchType() rota.Command {
	return &rota.SwitchType{Meta: g.meta(), Name: g.typeName(), Paused: g.rarely(3, "paused"), Version: g.putVersion()}
}

func (g *gen) putTemplate() rota.Command {
	c := &rota.PutTemplate{Meta: g.meta(), Name: choose(g, "template", "t", "u", "x"), Mode: g.mode(), Version: g.putVersion()}
	c.Spec = rota.TemplateSpec{
		Type: choose(g, "type", "a", "b"), Params: g.document(), Policy: g.patch(),
		ConcurrencyKey: choose(g, "key", "", "k", "kk", "l"), UniqueFor: choose(g, "unique for", 0, 0, time.Minute, time.Minute+1),
	}
	if g.rarely(2, "template priority") {
		c.Spec.Priority = new(g.priority())
	}
	if g.rarely(4, "sole") {
		c.OnlySchedule = g.scheduleName()
	}
	c.Recreate = c.Mode != rota.PutCreate && g.rarely(6, "template again")
	if g.rarely(4, "template webhooks") {
		c.Spec.Webhooks = g.webhooks("https://t.example/", "https://all.example/")
	}
	return c
}

func (g *gen) putWebhooks() rota.Command {
	return &rota.PutWebhooks{Meta: g.meta(), Version: g.putVersion(), Spec: g.webhooks("https://all.example/", "https://few.example/")}
}

// webhooks returns some of these addresses, each with some events or with all.
func (g *gen) webhooks(urls ...string) (hooks []rota.Webhook) {
	for _, url := range urls {
		if !g.rarely(3, "no webhook") {
			hooks = append(hooks, rota.Webhook{URL: url, Secret: g.webhookSecret(), Events: choose(g, "events",
				nil, []rota.EventKind{rota.EventJobDead, rota.EventJobFailed}, []rota.EventKind{rota.EventJobStarted})})
		}
	}
	return hooks
}

func (g *gen) archive() rota.Command {
	if g.rarely(2, "archive") {
		return &rota.Archive{Meta: g.meta(), Name: g.templateName(), Version: g.putVersion()}
	}
	return g.unarchive()
}

func (g *gen) unarchive() rota.Command {
	return &rota.Unarchive{Meta: g.meta(), Name: g.templateName(), Version: g.putVersion()}
}

func (g *gen) putThrottle() rota.Command {
	c := &rota.PutThrottle{Meta: g.meta(), Version: g.putVersion()}
	c.Spec.Global = choose(g, "global", 0, 0, 0, 2, 5)
	for _, name := range []string{"b", "a", rota.TypeWebhook} {
		if g.rarely(3, "type limit") {
			l := rota.TypeLimit{Type: name, Concurrency: choose(g, "concurrency", 1, 2)}
			if g.rarely(2, "rate") {
				l.Rate = rota.Rate{Count: choose(g, "count", 1, 3), Per: choose(g, "per", time.Second, time.Minute)}
			}
			c.Spec.Types = append(c.Spec.Types, l)
		}
	}
	for _, key := range []string{"l", "k"} {
		if g.rarely(2, "key limit") {
			c.Spec.Keys = append(c.Spec.Keys, rota.KeyLimit{Key: key, Concurrency: choose(g, "key concurrency", 1, 1, 2, 4)})
		}
	}
	for _, pattern := range []string{"*", "k*", "kk*"} {
		if g.rarely(3, "each key") {
			c.Spec.EachKey = append(c.Spec.EachKey, rota.EachKeyLimit{Pattern: pattern, Concurrency: choose(g, "each key concurrency", 1, 1, 2, 4)})
		}
	}
	for _, name := range []string{"b", "a"} {
		if g.rarely(2, "each key of type") {
			c.Spec.EachKeyOfType = append(c.Spec.EachKeyOfType, rota.EachKeyOfTypeLimit{Type: name, Concurrency: choose(g, "each key of type concurrency", 1, 1, 2, 4)})
		}
	}
	return c
}

func (g *gen) enqueueGroup() rota.Command {
	c := &rota.EnqueueGroup{
		Meta: g.meta(), Name: choose(g, "group name", "", "g"),
		Mode:      choose(g, "group mode", "", rota.GroupParallel, rota.GroupSequential, rota.GroupSequential),
		OnFailure: choose(g, "on failure", "", rota.FailureContinue, rota.FailureStop, rota.FailureSkip),
	}
	for range rapid.IntRange(1, 4).Draw(g.t, "members") {
		n := g.newJob()
		n.PlanTime = time.Time{}
		c.Jobs = append(c.Jobs, n)
	}
	return c
}

// group returns the id of a known group, or sometimes an unknown id.
func (g *gen) group() rota.ID {
	if len(g.groups) == 0 || g.rarely(10, "unknown group") {
		return g.ids.next()
	}
	return latest(g, "group", g.groups)
}

func (g *gen) cancelGroup() rota.Command {
	return &rota.CancelGroup{Meta: g.meta(), GroupID: g.group(), Reason: choose(g, "reason", "", "why not")}
}

func (g *gen) reservation() rota.ID {
	if len(g.reservations) == 0 || g.rarely(10, "unknown reservation") {
		return g.ids.next()
	}
	return latest(g, "reservation", g.reservations)
}

func (g *gen) reserve() rota.Command {
	return &rota.Reserve{Meta: g.meta(), Node: g.worker(), Incarnation: g.incarnation(), For: choose(g, "for", 0, time.Second, time.Hour)}
}

func (g *gen) direct() rota.Command {
	c := &rota.Direct{
		Meta: g.meta(), ReservationID: g.reservation(), Job: g.newJob(),
		Lease: choose(g, "lease", lease, time.Second, rota.LeaseMax), Seed: g.ids.seed(),
	}
	c.Job.UniqueKey, c.Job.UniqueFor, c.Job.PlanTime, c.Job.RunAt, c.Job.Delay, c.Job.MaxRetries = "", 0, time.Time{}, time.Time{}, 0, nil
	return c
}

func (g *gen) release() rota.Command {
	return &rota.Release{Meta: g.meta(), ReservationID: g.reservation()}
}

func (g *gen) expire() rota.Command {
	return &rota.Expire{Meta: g.meta(), Limit: choose(g, "limit", 0, 1, 2)}
}

func (g *gen) sweep() rota.Command {
	return &rota.Sweep{Meta: g.meta(), Limit: choose(g, "limit", 0, 1, 2, 3)}
}

func (g *gen) prune() rota.Command {
	c := &rota.Prune{Meta: g.meta(), Before: choose(g, "before", time.Time{}, g.now, g.now.Add(-time.Minute))}
	seen := map[rota.ID]bool{}
	for range rapid.IntRange(1, 5).Draw(g.t, "executions") {
		if id := g.job(); !seen[id] {
			seen[id] = true
			c.Executions = append(c.Executions, id)
		}
	}
	return c
}

func (g *gen) redrive() rota.Command {
	return &rota.Redrive{Meta: g.meta(), JobID: g.job(), Params: g.document(), Again: g.rarely(2, "again"), Version: g.putVersion()}
}

// remember uses one of a few keys, usually with the same request. Its command is new or,
// sometimes, one that a key is tied to.
func (g *gen) remember() rota.Command {
	c := &rota.Remember{
		Meta: g.meta(), Key: choose(g, "request key", "k", "l", "m"), Hash: hashOf(choose(g, "request", "a", "a", "b")), Command: g.ids.next(),
	}
	if len(g.remembered) > 0 && g.rarely(4, "tied command") {
		c.Command = latest(g, "command", g.remembered)
	}
	return c
}
