package eventring_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/eventring"
)

// fakeShared stands for the other processes of a store.
type fakeShared struct {
	rota.Store
	see    func([]rota.Event)
	lost   func(string)
	stop   func([]rota.ID)
	shared []rota.Event
}

func (f *fakeShared) WatchOthers(see func([]rota.Event), lost func(string)) func() {
	f.see, f.lost = see, lost
	return func() { f.see, f.lost = nil, nil }
}

func (f *fakeShared) WatchStops(stop func([]rota.ID)) func() {
	f.stop = stop
	return func() { f.stop = nil }
}

func (f *fakeShared) Share(events []rota.Event) { f.shared = append(f.shared, events...) }

// kinds lists the kinds and details of the events after a number.
func kinds(r *eventring.Ring, seq uint64) (list []string) {
	entries, _ := r.Since(seq)
	for _, e := range entries {
		list = append(list, string(e.Kind)+" "+e.Detail)
	}
	return list
}

func wantKinds(t *testing.T, got []string, want ...string) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("the events are %q, want %q", got, want)
	}
	for i := range got {
		if got[i] != want[i] {
			t.Fatalf("the events are %q, want %q", got, want)
		}
	}
}

func TestReaderReceivesEventsOfOthersAndResets(t *testing.T) {
	f := &fakeShared{Store: newStore(t)}
	r := eventring.New(f, 0)
	defer r.Close()
	local := 0
	defer r.Subscribe(func(events []rota.Event) { local += len(events) })()
	publish(r, 1, 1)
	if f.see != nil || len(f.shared) != 1 {
		t.Fatal("without readers the ring watches others, or has not shared its own event")
	}
	defer r.Follow()()
	start := r.Last()
	wantKinds(t, kinds(r, 1), "reset the events of other processes begin here") // for a reader that continues after the first event
	f.see([]rota.Event{{Kind: rota.EventJobEnqueued, Detail: "a"}, {Kind: rota.EventJobStarted, Detail: "b"}})
	f.lost("why")
	publish(r, 2, 2)
	f.see([]rota.Event{{Kind: rota.EventNodeLeft, Name: "n", Detail: rota.NodeLeaseEnded}})
	wantKinds(t, kinds(r, start), "job.enqueued a", "job.started b", "reset why", "group.finished 2", "node.left its lease ended",
		"reset node n ended, perhaps before it had sent its last events")
	if local != 2 || r.Local() != 2 {
		t.Errorf("subscribers received %d events, %d are counted; the process has 2 of its own", local, r.Local())
	}
}

func TestReaderThatReturnsSoonGetsNoReset(t *testing.T) {
	f := &fakeShared{Store: newStore(t)}
	synctest.Test(t, func(t *testing.T) {
		r := eventring.New(f, 0)
		defer r.Close()
		r.Follow()()
		last := r.Last()
		time.Sleep(time.Minute - time.Second)
		f.see([]rota.Event{{Kind: rota.EventJobEnqueued}})
		done := r.Follow()
		time.Sleep(time.Hour)
		wantKinds(t, kinds(r, last), "job.enqueued ")
		done()
		done() // a second call does nothing
		time.Sleep(time.Minute + time.Second)
		if f.see != nil {
			t.Fatal("the ring still watches, a minute after its last reader has left")
		}
		r.Follow()
		wantKinds(t, kinds(r, last+1), "reset the events of other processes begin here")
	})
}

func TestStopsOfThisAndOtherProcesses(t *testing.T) {
	f := &fakeShared{Store: newStore(t)}
	r := eventring.New(f, 0)
	defer r.Close()
	var stopped []rota.ID
	end := r.OnStop(func(job rota.ID) { stopped = append(stopped, job) })
	one, two := rota.NewID(), rota.NewID()
	r.Publish(rota.Event{Kind: rota.EventJobStopping, JobID: one})
	f.stop([]rota.ID{two})
	end()
	f.stop([]rota.ID{one})
	if len(stopped) != 2 || stopped[0] != one || stopped[1] != two {
		t.Errorf("stopped %v, want %s and %s", stopped, one, two)
	}
}
