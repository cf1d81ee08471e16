package sqlite

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
)

// webhookScenarios are commands with webhooks: the changes and the deliveries are committed
// together.
var webhookScenarios = []scenario{
	{"put webhooks", func(t testing.TB, s rota.Store) rota.Batch {
		putWebhooksAndTemplate(t, s, 0)
		return at(time.Second, putHooks(hookTo("b")))
	}},
	{"enqueue with webhooks", func(t testing.TB, s rota.Store) rota.Batch {
		putWebhooksAndTemplate(t, s, 0)
		return at(time.Second, enqueue(rota.NewJob{Type: "mail"}, rota.NewJob{Template: "digest"}))
	}},
	{"claim with webhooks", func(t testing.TB, s rota.Store) rota.Batch {
		queued(t, s, 3)
		putWebhooksAndTemplate(t, s, 0)
		return at(time.Second, claim(3))
	}},
	{"finish with webhooks", func(t testing.TB, s rota.Store) rota.Batch {
		jobs := running(t, s, 3)
		putWebhooksAndTemplate(t, s, 2*time.Second)
		return at(5*time.Second, &rota.Finish{Meta: rota.NewMeta(""), Items: []rota.FinishItem{
			{LeaseRef: lease(jobs[0]), Outcome: rota.OutcomeCompleted},
			{LeaseRef: lease(jobs[1]), Outcome: rota.OutcomeFailed, Error: "again"},
			{LeaseRef: lease(jobs[2]), Outcome: rota.OutcomeFailed, Permanent: true},
		}})
	}},
	{"fire with webhooks", func(t testing.TB, s rota.Store) rota.Batch {
		putWebhooksAndTemplate(t, s, 0)
		declare(t, s, "hourly", rota.ScheduleSpec{Every: time.Hour})
		return at(time.Hour, dueFire(t, s, "hourly", time.Hour))
	}},
	{"reap with webhooks", func(t testing.TB, s rota.Store) rota.Batch {
		running(t, s, 2)
		putWebhooksAndTemplate(t, s, 2*time.Second)
		return at(time.Hour, &rota.Reap{Meta: rota.NewMeta("")})
	}},
	{"all with the webhooks that it puts", func(t testing.TB, s rota.Store) rota.Batch {
		return at(0, &rota.All{Meta: rota.NewMeta("ada"), Members: []rota.Command{
			enqueue(rota.NewJob{Type: "mail"}), putHooks(hookTo("a")),
		}})
	}},
	{"claim of a delivery", func(t testing.TB, s rota.Store) rota.Batch {
		putWebhooksAndTemplate(t, s, 0)
		queued(t, s, 2)
		return at(time.Second, claimDeliveries(5))
	}},
	{"finish of a delivery", func(t testing.TB, s rota.Store) rota.Batch {
		putWebhooksAndTemplate(t, s, 0)
		queued(t, s, 2)
		jobs := apply(t, s, at(time.Second, claimDeliveries(5)))[0].Reply.(*rota.Claimed).Jobs
		return at(5*time.Second, &rota.Finish{Meta: rota.NewMeta(""), Items: []rota.FinishItem{
			{LeaseRef: lease(jobs[0]), Outcome: rota.OutcomeCompleted},
			{LeaseRef: lease(jobs[1]), Outcome: rota.OutcomeFailed, Error: "410 Gone"},
		}})
	}},
}

// putWebhooksAndTemplate puts a webhook that receives all events, and a template with a webhook.
func putWebhooksAndTemplate(t testing.TB, s rota.Store, after time.Duration) {
	t.Helper()
	apply(t, s, at(after, putHooks(hookTo("a"))))
	template(t, s, rota.TemplateSpec{Type: "mail", Webhooks: []rota.Webhook{hookTo("t")}})
}

func hookTo(name string) rota.Webhook {
	return rota.Webhook{URL: "https://" + name + ".example/hook", Secret: "s"}
}

func putHooks(hooks ...rota.Webhook) *rota.PutWebhooks {
	return &rota.PutWebhooks{Meta: rota.NewMeta("ada"), Spec: hooks}
}

func claimDeliveries(limit int) *rota.Claim {
	c := claim(limit)
	c.Types = []string{rota.TypeWebhook}
	return c
}

func deliveries(t testing.TB, s rota.Store) []*rota.Job {
	t.Helper()
	jobs, err := s.Jobs(t.Context(), rota.JobQuery{Type: rota.TypeWebhook})
	must(t, err)
	return jobs
}

// TestWebhooksAreCachedBetweenSteps changes the cache: the next step uses it, and does not read the
// rows.
func TestWebhooksAreCachedBetweenSteps(t *testing.T) {
	s := openTest(t, Config{})
	queued(t, s, 1)
	w := <-s.writer
	if !w.hooks.known || w.hooks.inForce != nil {
		t.Errorf("without webhooks the cache holds %+v", w.hooks)
	}
	w.hooks.inForce = &rules.Hooks{All: []rota.Webhook{hookTo("made-up")}}
	s.writer <- w
	apply(t, s, at(0, enqueue(rota.NewJob{Type: "mail"})))
	if got := deliveries(t, s); len(got) != 1 || !strings.Contains(string(got[0].Params), "made-up") {
		t.Errorf("the webhooks were read again: %v", got)
	}
}

// TestWebhooksChangedByOtherConnectionAreReadAgain changes the webhooks through another connection.
func TestWebhooksChangedByOtherConnectionAreReadAgain(t *testing.T) {
	s := openTest(t, Config{})
	putWebhooksAndTemplate(t, s, 0)
	queued(t, s, 1)
	before := len(deliveries(t, s))
	conn := rawConn(t, s.path)
	execute(t, conn, `UPDATE rota_webhooks SET spec = '[]'`)
	apply(t, s, at(time.Second, enqueue(rota.NewJob{Template: "digest"})))
	if got := len(deliveries(t, s)) - before; got != 1 {
		t.Errorf("%d deliveries, want 1 of the template", got)
	}
	execute(t, conn, `UPDATE rota_templates SET webhooks = 0`)
	apply(t, s, at(2*time.Second, enqueue(rota.NewJob{Template: "digest"})))
	if got := len(deliveries(t, s)) - before; got != 1 {
		t.Errorf("%d deliveries, want no further one", got)
	}
}

// TestRolledBackWebhooksAreNotUsed rolls back a batch that puts webhooks: later events have no
// deliveries.
func TestRolledBackWebhooksAreNotUsed(t *testing.T) {
	broken, count := false, 0
	s := openTest(t, Config{injectFault: func(int) error {
		if count++; broken && count > 3 {
			return errors.New("no")
		}
		return nil
	}})
	queued(t, s, 1)
	both := rota.Batch{Now: noon, Commands: []rota.Command{putHooks(hookTo("a")), enqueue(rota.NewJob{Type: "mail"}), claim(1)}}
	broken, count = true, 0
	if _, err := s.Apply(context.Background(), both); err == nil {
		t.Fatal("nothing was refused")
	}
	broken = false
	apply(t, s, at(time.Second, enqueue(rota.NewJob{Type: "mail"})))
	if got := deliveries(t, s); len(got) != 0 {
		t.Errorf("deliveries %v", got)
	}
	verifyClean(t, s)
}

// TestRepeatedEventAtSameTimeIsDeliveredOnce creates the same job twice at the same time, with a
// prune in between: each event has one delivery, and nothing is refused.
func TestRepeatedEventAtSameTimeIsDeliveredOnce(t *testing.T) {
	s := openTest(t, Config{})
	putWebhooksAndTemplate(t, s, 0)
	id := rota.NewID()
	for range 2 {
		apply(t, s, at(0, enqueue(rota.NewJob{ID: id, Type: "mail"})))
		apply(t, s, at(0, &rota.Cancel{Meta: rota.NewMeta(""), JobID: id}))
		apply(t, s, at(0, &rota.Prune{Meta: rota.NewMeta(""), Executions: []rota.ID{id}}))
	}
	if got := deliveries(t, s); len(got) != 2 {
		t.Errorf("%d deliveries, want one for each event", len(got))
	}
	verifyClean(t, s)
}

// TestDeliveryKeepsLongURL uses a URL that is too long for the row of the delivery.
func TestDeliveryKeepsLongURL(t *testing.T) {
	s := openTest(t, Config{})
	hook := hookTo("a")
	hook.URL += strings.Repeat("x", rota.URLMax-len(hook.URL))
	apply(t, s, at(0, putHooks(hook)))
	queued(t, s, 20)
	for _, j := range deliveries(t, s) {
		if d, err := rota.ParseDelivery(j.Params); err != nil || d.URL != hook.URL {
			t.Errorf("the delivery has the URL %q: %v", d.URL, err)
		}
	}
	verifyClean(t, s)
}

// TestTooManyDeliveriesAreRefused sends commands with more deliveries than one step may write. They
// change nothing, and the other command of the batch is applied.
func TestTooManyDeliveriesAreRefused(t *testing.T) {
	s := openTest(t, Config{})
	var hooks []rota.Webhook
	for i := range rota.WebhooksMax {
		hooks = append(hooks, hookTo(string(rune('a'+i))))
	}
	quiet := hookTo("quiet")
	quiet.Events = []rota.EventKind{rota.EventJobDead}
	apply(t, s, at(0, putHooks(hookTo("a"), quiet)))
	template(t, s, rota.TemplateSpec{Type: "mail", Webhooks: hooks})
	many := make([]rota.NewJob, rota.DeliveriesMax/(rota.WebhooksMax+1)+1)
	for i := range many {
		many[i].Template = "digest"
	}
	results, err := s.Apply(t.Context(), rota.Batch{Now: noon, Commands: []rota.Command{
		enqueue(many...), enqueue(many[:1]...), &rota.EnqueueGroup{Meta: rota.NewMeta("ada"), Name: "g", Jobs: many},
		&rota.All{Meta: rota.NewMeta("ada"), Members: []rota.Command{enqueue(many[1:]...), enqueue(many[:1]...)}},
	}})
	must(t, err)
	for i, r := range results {
		switch says := "would create 50006 deliveries to webhooks; at most 50000 are allowed"; {
		case i == 1 && r.Err == nil:
		case i == 1 || r.Err == nil || r.Err.Code != rota.Invalid || !strings.Contains(r.Err.Error(), says):
			t.Errorf("%d: %v", i, r.Err)
		}
	}
	if got := len(deliveries(t, s)); got != rota.WebhooksMax+1 {
		t.Errorf("there are %d deliveries", got)
	}
}
