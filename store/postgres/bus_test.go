package postgres

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/codec"
)

// othersLog records what a store receives from other processes.
type othersLog struct {
	mu     sync.Mutex
	events []rota.Event
	lost   []string
}

func watchOthers(t *testing.T, s *Store) *othersLog {
	t.Helper()
	l := &othersLog{}
	t.Cleanup(s.WatchOthers(func(events []rota.Event) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.events = append(l.events, events...)
	}, func(reason string) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.lost = append(l.lost, reason)
	}))
	return l
}

// names lists the received events of a kind by the name of their job, and what was lost.
func (l *othersLog) names(kind rota.EventKind) (names, lost []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.events {
		if e.Kind == kind {
			names = append(names, e.Name)
		}
	}
	return names, append([]string{}, l.lost...)
}

// enqueueNamed enqueues jobs named by consecutive numbers.
func enqueueNamed(t testing.TB, s rota.Store, from, to int) {
	t.Helper()
	jobs := make([]rota.NewJob, 0, to-from+1)
	for n := from; n <= to; n++ {
		jobs = append(jobs, rota.NewJob{Type: "work", Name: fmt.Sprint("job-", n)})
	}
	done[*rota.Enqueued](t, s, &rota.Enqueue{Meta: rota.NewMeta(""), Jobs: jobs})
}

// wantNamed waits for the events of jobs with consecutive numbers, in order and once each.
func (l *othersLog) wantNamed(t *testing.T, from, to int) {
	t.Helper()
	var names, lost []string
	eventually(t, fmt.Sprint("the events of job-", from, " to job-", to, " have arrived"), func() bool {
		names, lost = l.names(rota.EventJobEnqueued)
		return len(names) >= to-from+1 || len(lost) > 0
	})
	for i, name := range names {
		if want := fmt.Sprint("job-", from+i); name != want {
			t.Fatalf("event %d is of %s, want %s", i, name, want)
		}
	}
	if len(names) != to-from+1 || len(lost) > 0 {
		t.Fatalf("%d events, want %d; lost: %q", len(names), to-from+1, lost)
	}
}

// openTwo opens two stores of one database, as two processes do.
func openTwo(t *testing.T) (a, b *Store) {
	t.Helper()
	a = openTest(t, Config{Logger: quiet})
	b = openAt(t, urlOf(a), Config{Logger: quiet})
	for _, s := range []*Store{a, b} {
		eventually(t, "the store listens", s.Listens)
	}
	return a, b
}

func TestBusDeliversMessagesToOtherProcessesOnly(t *testing.T) {
	a, b := openTwo(t)
	received := make(chan string, 10)
	defer b.Receive("logs", func(text string) { received <- text })()
	defer b.Receive("other", func(text string) { received <- "of another topic: " + text })()
	defer a.Receive("logs", func(text string) { received <- "by the sender: " + text })()
	long := strings.Repeat("<\"é\n", rota.BusTextMax/5)
	for _, text := range []string{"one", "", long} {
		must(t, a.Send("logs", text))
		if got := <-received; got != text {
			t.Errorf("received %.40q, want %.40q", got, text)
		}
	}
	if err := a.Send("logs", long+long); rota.CodeOf(err) != rota.Invalid {
		t.Errorf("a long text: %v", err)
	}
}

func TestEventsOfOtherProcessArriveInOrderOnce(t *testing.T) {
	a, b := openTwo(t)
	defer a.Watch(func([]rota.Event) {})() // as in every node: the events of a exist
	l := watchOthers(t, b)
	// a has not learned of the watch yet: these events are the ones it has kept.
	enqueueNamed(t, a, 1, 100)
	enqueueNamed(t, a, 101, 101)
	l.wantNamed(t, 1, 101)
	for n := 102; n < 200; n++ {
		enqueueNamed(t, a, n, n)
	}
	l.wantNamed(t, 1, 199)
	enqueueNamed(t, b, 1, 1) // its own events are not those of others
	enqueueNamed(t, a, 200, 200)
	l.wantNamed(t, 1, 200)
}

func TestNothingIsSentWhileNoProcessWatches(t *testing.T) {
	a, b := openTwo(t)
	defer a.Watch(func([]rota.Event) {})()
	enqueueNamed(t, a, 1, 10)
	received := make(chan string, 10)
	defer b.bus.subscribe(topicEvents, func(body json.RawMessage) { received <- string(body) })()
	defer b.bus.subscribe("end", func(json.RawMessage) { received <- "end" })()
	enqueueNamed(t, a, 11, 20)
	must(t, a.Send("end", ""))
	if got := <-received; got != "end" {
		t.Errorf("events were sent: %s", got)
	}
}

// A process that only enqueues and ends has had no time to learn of the watch.
func TestEventsOfShortProcessArrive(t *testing.T) {
	_, b := openTwo(t)
	l := watchOthers(t, b)
	for n := range 3 {
		short := openAt(t, urlOf(b), Config{Logger: quiet})
		enqueueNamed(t, short, n+1, n+1)
		must(t, short.Close())
	}
	l.wantNamed(t, 1, 3)
}

// The announcement of a watch may be on its way when a process closes, however old the process is.
func TestClosingProcessSendsItsLastEvents(t *testing.T) {
	for skipped, want := range map[bool]string{false: `"n":1,"e":`, true: `"n":1,"lost":true`} {
		var f forwarder
		f.init(func() {})
		f.began = f.began.Add(-time.Hour) // no process has answered the hello
		if skipped {
			f.skip()
		} else {
			f.publish([]rota.Event{{Kind: rota.EventJobEnqueued}})
		}
		if f.takeMessage(1_000) != nil {
			t.Error("a message is sent while no process watches")
		}
		f.close()
		if text := string(f.takeMessage(1_000)); !strings.Contains(text, want) {
			t.Errorf("skipped %t: the last message is %q", skipped, text)
		}
	}
}

// A process without watchers creates no events. The first announcement finds that one was skipped.
func TestWatchReportsEventsThatSenderDidNotCreate(t *testing.T) {
	a, b := openTwo(t)
	a.bus.forwarder.until.Store(0) // as when no process has answered the hello
	enqueueNamed(t, a, 1, 1)
	l := watchOthers(t, b)
	eventually(t, "the loss is reported", func() bool {
		_, lost := l.names("")
		return len(lost) == 1 && lost[0] == lostBySender
	})
	enqueueNamed(t, a, 2, 2)
	eventually(t, "the next event arrives", func() bool {
		names, _ := l.names(rota.EventJobEnqueued)
		return len(names) == 1 && names[0] == "job-2"
	})
}

func TestMoreEventsThanFitAreReportedAsLost(t *testing.T) {
	a, b := openTwo(t)
	defer a.Watch(func([]rota.Event) {})()
	l := watchOthers(t, b)
	enqueueNamed(t, a, 1, 1)
	l.wantNamed(t, 1, 1)
	enqueueNamed(t, a, 2, unsentMax+3)
	eventually(t, "the loss is reported", func() bool {
		_, lost := l.names("")
		return len(lost) > 0 && lost[0] == lostBySender
	})
	enqueueNamed(t, a, 0, 0)
	eventually(t, "events arrive again", func() bool {
		names, _ := l.names(rota.EventJobEnqueued)
		return names[len(names)-1] == "job-0"
	})
}

func TestMissingMessageIsReportedAsLost(t *testing.T) {
	a, b := openTwo(t)
	defer a.Watch(func([]rota.Event) {})()
	l := watchOthers(t, b)
	enqueueNamed(t, a, 1, 1)
	l.wantNamed(t, 1, 1)
	a.bus.forwarder.mu.Lock()
	a.bus.forwarder.number++
	a.bus.forwarder.mu.Unlock()
	enqueueNamed(t, a, 2, 2)
	eventually(t, "the gap is reported", func() bool {
		names, lost := l.names(rota.EventJobEnqueued)
		return len(names) == 2 && len(lost) == 1 && lost[0] == lostOnTheWay
	})
}

func TestLostListenerConnectionIsReported(t *testing.T) {
	a, b := openTwo(t)
	defer a.Watch(func([]rota.Event) {})()
	l := watchOthers(t, b)
	enqueueNamed(t, a, 1, 1)
	l.wantNamed(t, 1, 1)
	rows(t, b, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%set_config(''synchronous_commit''%pg_notify%' AND pid <> pg_backend_pid() AND state = 'idle'`)
	eventually(t, "the loss is reported", func() bool {
		_, lost := l.names("")
		return len(lost) > 0 && lost[0] == lostConnection
	})
	enqueueNamed(t, a, 2, 2)
	eventually(t, "events arrive again", func() bool {
		names, _ := l.names(rota.EventJobEnqueued)
		return names[len(names)-1] == "job-2"
	})
}

// Behind a pooler a process receives nothing, and does not learn which events others want.
func TestPoolerIsReportedAsLost(t *testing.T) {
	a := openTest(t, Config{Logger: quiet})
	b := openAt(t, urlOf(a), Config{Logger: quiet, Poll: true})
	for _, name := range []string{"a", "b"} {
		_, err := a.Heartbeat(t.Context(), rota.NodeHeartbeat{Node: name, Incarnation: rota.NewID(), Lease: time.Minute})
		must(t, err)
	}
	atPoller, atListener := watchOthers(t, b), watchOthers(t, a)
	eventually(t, "the watch behind the pooler has lost events", func() bool {
		_, lost := atPoller.names("")
		return len(lost) > 0 && lost[0] == lostPolling
	})
	enqueueNamed(t, b, 1, 1)
	eventually(t, "the other process has lost the events of the one behind the pooler", func() bool {
		_, lost := atListener.names("")
		return len(lost) > 0 && lost[0] == lostBySender
	})
}

func TestStopReachesOtherProcess(t *testing.T) {
	a, b := openTwo(t)
	stopped := make(chan []rota.ID, 1)
	defer b.WatchStops(func(jobs []rota.ID) { stopped <- jobs })()
	enqueueNamed(t, a, 1, 1)
	job := done[*rota.Claimed](t, b, &rota.Claim{
		Meta: rota.NewMeta(""), Worker: "w", Types: []string{"work"}, Limit: 1, Lease: rota.LeaseMax, Seed: rota.NewToken(),
	}).Jobs[0]
	done[*rota.CancelledJob](t, a, &rota.Cancel{Meta: rota.NewMeta(""), JobID: job.ID})
	if got := <-stopped; len(got) != 1 || got[0] != job.ID {
		t.Errorf("stopped %v, want %s", got, job.ID)
	}
}

func TestLongEventLosesTheEndsOfItsTexts(t *testing.T) {
	long := rota.Event{
		Kind: rota.EventJobFailed, JobID: rota.NewID(), Error: strings.Repeat("\x01", rota.EventErrorMax), Detail: strings.Repeat("é", rota.ReasonMax),
	}
	data, err := appendEvent(nil, &long)
	if err != nil || len(data) > eventBytes(busPayloadMax-busHeadMax) {
		t.Fatalf("%d bytes, %v", len(data), err)
	}
	got, err := codec.DecodeEvents(data)
	if err != nil || len(got) != 1 || got[0].JobID != long.JobID || !strings.HasPrefix(long.Error, got[0].Error) || got[0].Error == "" {
		t.Errorf("became %+v, %v", got, err)
	}
}
