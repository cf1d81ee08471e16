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

// hook declares webhooks that are told of everything.
func (w *world) hook(hooks ...rota.Webhook) {
	w.Helper()
	for i := range hooks {
		hooks[i].Secret = "between us"
	}
	does[*rota.WebhooksPut](w, &rota.PutWebhooks{Meta: meta(), Spec: hooks})
}

// deliveries are those that tell of a finished group, by address.
func (w *world) deliveries(group rota.ID) map[string][]*rota.Job {
	w.Helper()
	jobs, err := w.store.Jobs(context.Background(), rota.JobQuery{Type: rota.TypeWebhook, Limit: rota.PageMax})
	if err != nil {
		w.Fatal(err)
	}
	byURL := map[string][]*rota.Job{}
	for _, job := range jobs {
		d, err := rota.ParseDelivery(job.Params)
		if err != nil {
			w.Fatal(err)
		}
		if d.Event == rota.EventGroupFinished && *d.GroupID == group {
			byURL[d.URL] = append(byURL[d.URL], job)
		}
	}
	return byURL
}

func (w *world) members(group rota.ID) []*rota.Job {
	w.Helper()
	jobs, err := w.store.Jobs(context.Background(), rota.JobQuery{GroupID: group, Limit: rota.PageMax})
	if err != nil {
		w.Fatal(err)
	}
	return jobs
}

// delivery is the only one that there is, sooner or later.
func (w *world) delivery() rota.ID {
	w.Helper()
	return w.seen.await(w, "a delivery", func(e rota.Event) bool { return e.Type == rota.TypeWebhook }).JobID
}

func TestWebhooksAreToldOfAGroupThatHasFinished(t *testing.T) {
	w := newWorld(t)
	long := "http://example.org/" + strings.Repeat("x", rota.KeyMax)
	w.hook(
		rota.Webhook{URL: "http://example.org/all"},
		rota.Webhook{URL: "http://example.org/jobs", Events: []rota.EventKind{rota.EventJobCompleted}},
		rota.Webhook{URL: long, Events: []rota.EventKind{rota.EventGroupFinished}},
	)
	f := eventring.New(w.store, 0)
	defer f.Close()
	w.start(registry(done), engine.Config{Events: f})
	id := w.addGroup(3)
	events := told(w, f, id, func() rota.ID { return w.addGroup(1) })
	made := w.deliveries(id)
	if len(made) != 2 || len(made["http://example.org/all"]) != 1 || len(made[long]) != 1 {
		t.Fatalf("deliveries: %v", made)
	}
	job := made[long][0]
	d, _ := rota.ParseDelivery(job.Params)
	last := time.Time{}
	for _, e := range w.members(id) {
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

// When it finished is when the last of its members did, be they ever so many.
func TestTheEndOfALargeGroupIsThatOfItsLastMember(t *testing.T) {
	w := newWorld(t)
	w.hook(rota.Webhook{URL: "http://example.org/all", Events: []rota.EventKind{rota.EventGroupFinished}})
	f := eventring.New(w.store, 0)
	defer f.Close()
	s := newStage()
	w.start(registry(func(ctx context.Context, job *rota.Job) error {
		if job.GroupPosition == 1 { // the oldest, which is the last to be listed
			return s.play(ctx, job)
		}
		return nil
	}), engine.Config{Events: f, Workers: 200})
	const size = rota.PageMax + 5
	id := w.addGroup(size)
	w.until("all others have ended", func() bool {
		return w.seen.count(func(e rota.Event) bool { return e.Kind == rota.EventJobCompleted }) == size-1
	})
	last := s.next(w)
	s.end <- nil
	told(w, f, id, func() rota.ID { return id })
	made := w.deliveries(id)["http://example.org/all"]
	if len(made) != 1 {
		t.Fatalf("%d deliveries", len(made))
	}
	if d, _ := rota.ParseDelivery(made[0].Params); !d.Time.Equal(w.job(last.ID).FinishedAt) {
		t.Errorf("it finished at %s, its last member at %s", d.Time, w.job(last.ID).FinishedAt)
	}
}

func TestWithoutWebhooksNobodyIsToldOfAGroup(t *testing.T) {
	w := newWorld(t)
	f := eventring.New(w.store, 0)
	defer f.Close()
	w.start(registry(done), engine.Config{Events: f})
	id := w.addGroup(1)
	told(w, f, id, func() rota.ID { return id })
	if made := w.deliveries(id); len(made) != 0 {
		t.Errorf("deliveries: %v", made)
	}
}

// All engines on a store find out, and none of them knows of the others.
func TestADeliveryOfAGroupIsMadeOnce(t *testing.T) {
	w := newWorld(t)
	w.hook(rota.Webhook{URL: "http://example.org/all", Events: []rota.EventKind{rota.EventGroupFinished}})
	var feeds []*eventring.Ring
	for _, name := range []string{"a", "b", "c"} {
		f := eventring.New(w.store, 0)
		defer f.Close()
		feeds = append(feeds, f)
		w.start(registry(done), engine.Config{Name: name, Events: f})
	}
	id := w.addGroup(5)
	for _, f := range feeds {
		told(w, f, id, func() rota.ID { return id })
	}
	if made := w.deliveries(id); len(made["http://example.org/all"]) != 1 {
		t.Errorf("deliveries: %v", made)
	}
}

// hookless is a store whose webhooks cannot be read at first.
type hookless struct {
	rota.Store
	failures tally[string]
}

// Webhooks fails twice.
func (h *hookless) Webhooks(ctx context.Context) (*rota.Webhooks, error) {
	if h.failures.add("n", 1) <= 2 {
		return nil, errDown
	}
	return h.Store.Webhooks(ctx)
}

// While webhooks cannot be told, the group counts as not told of at all.
func TestAGroupIsToldOfOnceWebhooksCanBe(t *testing.T) {
	var sends tally[string]
	for name, store := range map[string]func(rota.Store) rota.Store{
		"they cannot be read": func(s rota.Store) rota.Store { return &hookless{Store: s} },
		"no job can be made": func(s rota.Store) rota.Store {
			return wrap.Flaky(s, wrap.Fault{After: func(b rota.Batch, _ []rota.Result) error {
				ours := slices.ContainsFunc(b.Commands, func(c rota.Command) bool {
					return c.Verb() == rota.VerbEnqueue && c.Head().Actor == rota.DeliveredBy
				})
				if ours && sends.add("all", 1) <= 2 {
					return errDown // it was made, and nobody knows
				}
				return nil
			}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.hook(rota.Webhook{URL: "http://example.org/all"})
			f := eventring.New(w.store, 0)
			defer f.Close()
			w.startOn(store(w.store), registry(done), engine.Config{Events: f})
			id := w.addGroup(2)
			events := told(w, f, id, func() rota.ID { return w.addGroup(1) })
			if made := w.deliveries(id); len(events) != 1 || len(made["http://example.org/all"]) != 1 {
				t.Errorf("%v; deliveries: %v", events, made)
			}
		})
	}
}

// A list that the store refuses, as none should, costs the others nothing.
func TestARefusedDeliveryIsLogged(t *testing.T) {
	w := newWorld(t)
	w.hook(rota.Webhook{URL: "http://example.org/all"})
	f := eventring.New(w.store, 0)
	defer f.Close()
	store := &refusing{w.store, func(c rota.Command) *rota.Error {
		if c.Verb() == rota.VerbEnqueue && c.Head().Actor == rota.DeliveredBy {
			return rota.Invalidf("jobs", "not today")
		}
		return nil
	}}
	w.startOn(store, registry(done), engine.Config{Events: f})
	id := w.addGroup(1)
	if events := told(w, f, id, func() rota.ID { return id }); len(events) != 1 || w.log.count("refused the job that notifies a webhook", "not today") != 1 {
		t.Errorf("%v", events)
	}
}
