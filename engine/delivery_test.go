package engine_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
	"github.com/rotajobs/rota/eventring"
	"github.com/rotajobs/rota/store/wrap"
)

// putWebhooks declares webhooks with a secret.
func (h *harness) putWebhooks(hooks ...rota.Webhook) {
	h.Helper()
	for i := range hooks {
		hooks[i].Secret = "between us"
	}
	mustApply[*rota.WebhooksPut](h, &rota.PutWebhooks{Meta: meta(), Spec: hooks})
}

// deliveries lists the deliveries of a finished group, by URL.
func (h *harness) deliveries(group rota.ID) map[string][]*rota.Job {
	h.Helper()
	jobs, err := h.store.Jobs(context.Background(), rota.JobQuery{Type: rota.TypeWebhook, Limit: rota.PageMax})
	if err != nil {
		h.Fatal(err)
	}
	byURL := map[string][]*rota.Job{}
	for _, job := range jobs {
		d, err := rota.ParseDelivery(job.Params)
		if err != nil {
			h.Fatal(err)
		}
		if d.Event == rota.EventGroupFinished && *d.GroupID == group {
			byURL[d.URL] = append(byURL[d.URL], job)
		}
	}
	return byURL
}

func (h *harness) members(group rota.ID) []*rota.Job {
	h.Helper()
	jobs, err := h.store.Jobs(context.Background(), rota.JobQuery{GroupID: group, Limit: rota.PageMax})
	if err != nil {
		h.Fatal(err)
	}
	return jobs
}

// awaitDelivery waits for the first delivery.
func (h *harness) awaitDelivery() rota.ID {
	h.Helper()
	return h.events.await(h, "a delivery", func(e rota.Event) bool { return e.Type == rota.TypeWebhook && !e.JobID.IsZero() }).JobID
}

func TestFinishedGroupIsDeliveredToWebhooks(t *testing.T) {
	h := newHarness(t)
	long := "http://example.org/" + strings.Repeat("x", rota.KeyMax)
	h.putWebhooks(
		rota.Webhook{URL: "http://example.org/all"},
		rota.Webhook{URL: "http://example.org/jobs", Events: []rota.EventKind{rota.EventJobCompleted}},
		rota.Webhook{URL: long, Events: []rota.EventKind{rota.EventGroupFinished}},
	)
	f := eventring.New(h.store, 0)
	defer f.Close()
	h.start(registry(done), engine.Config{Events: f})
	id := h.addGroup(3)
	events := awaitGroupEvents(h, f, id, func() rota.ID { return h.addGroup(1) })
	made := h.deliveries(id)
	if len(made) != 2 || len(made["http://example.org/all"]) != 1 || len(made[long]) != 1 {
		t.Fatalf("deliveries: %v", made)
	}
	job := made[long][0]
	d, _ := rota.ParseDelivery(job.Params)
	last := time.Time{}
	for _, e := range h.members(id) {
		if e.FinishedAt.After(last) {
			last = e.FinishedAt
		}
	}
	if len(events) != 1 || !d.Time.Equal(events[0].At) || !d.Time.Equal(last) || d.Detail != string(rota.GroupCompleted) || d.Template != "" || d.JobID != nil {
		t.Errorf("%+v of %+v", d, events)
	}
	if job.Priority != rota.PriorityMin || job.Policy != rota.DeliveryPolicy || job.CreatedBy != "rota" || job.Name != "webhook" || !job.Ready() {
		t.Errorf("%+v", job)
	}
}

// A group finishes when its last member does, also if the members fill several pages.
func TestLargeGroupFinishesWithLastMember(t *testing.T) {
	h := newHarness(t)
	h.putWebhooks(rota.Webhook{URL: "http://example.org/all", Events: []rota.EventKind{rota.EventGroupFinished}})
	f := eventring.New(h.store, 0)
	defer f.Close()
	s := newControlledHandler()
	h.start(registry(func(ctx context.Context, job *rota.Job) error {
		if job.GroupPosition == 1 { // the oldest, which is listed last
			return s.handle(ctx, job)
		}
		return nil
	}), engine.Config{Events: f, Workers: 200})
	const size = rota.PageMax + 5
	id := h.addGroup(size)
	h.eventually("all other members have ended", func() bool {
		return h.events.count(func(e rota.Event) bool { return e.Kind == rota.EventJobCompleted }) == size-1
	})
	last := s.awaitStart(h)
	s.results <- nil
	awaitGroupEvents(h, f, id, func() rota.ID { return id })
	made := h.deliveries(id)["http://example.org/all"]
	if len(made) != 1 {
		t.Fatalf("%d deliveries", len(made))
	}
	if d, _ := rota.ParseDelivery(made[0].Params); !d.Time.Equal(h.job(last.ID).FinishedAt) {
		t.Errorf("it finished at %s, its last member at %s", d.Time, h.job(last.ID).FinishedAt)
	}
}

func TestFinishedGroupWithoutWebhooksCreatesNoDelivery(t *testing.T) {
	h := newHarness(t)
	f := eventring.New(h.store, 0)
	defer f.Close()
	h.start(registry(done), engine.Config{Events: f})
	id := h.addGroup(1)
	awaitGroupEvents(h, f, id, func() rota.ID { return id })
	if made := h.deliveries(id); len(made) != 0 {
		t.Errorf("deliveries: %v", made)
	}
}

// All engines on a store find the group finished, and none knows of the others.
func TestSeveralEnginesCreateOneGroupDelivery(t *testing.T) {
	h := newHarness(t)
	h.putWebhooks(rota.Webhook{URL: "http://example.org/all", Events: []rota.EventKind{rota.EventGroupFinished}})
	var feeds []*eventring.Ring
	for _, name := range []string{"a", "b", "c"} {
		f := eventring.New(h.store, 0)
		defer f.Close()
		feeds = append(feeds, f)
		h.start(registry(done), engine.Config{Name: name, Events: f})
	}
	id := h.addGroup(5)
	for _, f := range feeds {
		awaitGroupEvents(h, f, id, func() rota.ID { return id })
	}
	if made := h.deliveries(id); len(made["http://example.org/all"]) != 1 {
		t.Errorf("deliveries: %v", made)
	}
}

// unreadableWebhooks is a store whose webhooks cannot be read at first.
type unreadableWebhooks struct {
	rota.Store
	failures counter[string]
}

// Webhooks fails twice.
func (h *unreadableWebhooks) Webhooks(ctx context.Context) (*rota.Webhooks, error) {
	if h.failures.add("n", 1) <= 2 {
		return nil, errDown
	}
	return h.Store.Webhooks(ctx)
}

// A group is published only after its deliveries are created.
func TestGroupIsPublishedOnceDeliveriesSucceed(t *testing.T) {
	var sends counter[string]
	for name, store := range map[string]func(rota.Store) rota.Store{
		"webhooks cannot be read": func(s rota.Store) rota.Store { return &unreadableWebhooks{Store: s} },
		"the answer to the enqueue is lost": func(s rota.Store) rota.Store {
			return wrap.Flaky(s, wrap.Fault{After: func(b rota.Batch, _ []rota.Result) error {
				ours := slices.ContainsFunc(b.Commands, func(c rota.Command) bool {
					return c.Verb() == rota.VerbEnqueue && c.Head().Actor == rota.SystemActor
				})
				if ours && sends.add("all", 1) <= 2 {
					return errDown // the store has applied it
				}
				return nil
			}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t)
			h.putWebhooks(rota.Webhook{URL: "http://example.org/all"})
			f := eventring.New(h.store, 0)
			defer f.Close()
			h.startOn(store(h.store), registry(done), engine.Config{Events: f})
			id := h.addGroup(2)
			events := awaitGroupEvents(h, f, id, func() rota.ID { return h.addGroup(1) })
			if made := h.deliveries(id); len(events) != 1 || len(made["http://example.org/all"]) != 1 {
				t.Errorf("%v; deliveries: %v", events, made)
			}
		})
	}
}

// A refused delivery does not keep the group from being published.
func TestRefusedDeliveryIsLogged(t *testing.T) {
	h := newHarness(t)
	h.putWebhooks(rota.Webhook{URL: "http://example.org/all"})
	f := eventring.New(h.store, 0)
	defer f.Close()
	store := &refusing{h.store, func(c rota.Command) *rota.Error {
		if c.Verb() == rota.VerbEnqueue && c.Head().Actor == rota.SystemActor {
			return rota.Invalidf("jobs", "not today")
		}
		return nil
	}}
	h.startOn(store, registry(done), engine.Config{Events: f})
	id := h.addGroup(1)
	if events := awaitGroupEvents(h, f, id, func() rota.ID { return id }); len(events) != 1 || h.log.count("refused the job that notifies a webhook", "not today") != 1 {
		t.Errorf("%v", events)
	}
}
