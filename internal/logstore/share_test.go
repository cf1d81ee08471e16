package logstore_test

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/logstore"
)

// seen collects events.
type seen struct {
	mu     sync.Mutex
	events []rota.EventKind
}

func (s *seen) see(events []rota.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range events {
		s.events = append(s.events, events[i].Kind)
	}
}

// take returns the events since the last call.
func (s *seen) take() []rota.EventKind {
	s.mu.Lock()
	defer s.mu.Unlock()
	taken := s.events
	s.events = nil
	return taken
}

func want(t testing.TB, name string, s *seen, kinds ...rota.EventKind) {
	t.Helper()
	if got := s.take(); !slices.Equal(got, kinds) {
		t.Errorf("%s sees %v, want %v", name, got, kinds)
	}
}

func (n *node) length() int {
	n.log.mu.Lock()
	defer n.log.mu.Unlock()
	return len(n.log.entries)
}

func (n *node) catchUp(t testing.TB) {
	t.Helper()
	must(t, n.CatchUp(t.Context()))
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func enqueue(jobs ...rota.NewJob) *rota.Enqueue {
	return &rota.Enqueue{Meta: rota.NewMeta("ada"), Jobs: jobs}
}

func claim() *rota.Claim {
	return &rota.Claim{
		Meta: rota.NewMeta(""), Worker: "w", Incarnation: rota.ID{6: 0x70, 8: 0x80, 15: 1}, Types: []string{"mail"}, Limit: 1,
		Lease: time.Minute, Seed: rota.NewToken(),
	}
}

func apply(t testing.TB, n *node, commands ...rota.Command) []rota.Result {
	t.Helper()
	results, err := n.Apply(t.Context(), rota.Batch{Commands: commands})
	must(t, err)
	if len(results) != len(commands) {
		t.Fatalf("%d results of %d commands", len(results), len(commands))
	}
	return results
}

// TestEventsAreOwnOrOfOthers applies commands of two processes.
func TestEventsAreOwnOrOfOthers(t *testing.T) {
	nodes := openNodes(t, 2)
	a, b := nodes[0], nodes[1]
	var ownA, ownB, othersA, othersB seen
	var stopsA, stopsB, lost []string
	note := func(list *[]string) func([]rota.ID) {
		return func(jobs []rota.ID) {
			for _, id := range jobs {
				*list = append(*list, id.String())
			}
		}
	}
	a.Watch(ownA.see)
	b.Watch(ownB.see)
	a.WatchOthers(othersA.see, nil)
	endOthers := b.WatchOthers(othersB.see, func(reason string) { lost = append(lost, reason) })
	a.WatchStops(note(&stopsA))
	b.WatchStops(note(&stopsB))

	job := apply(t, a, enqueue(rota.NewJob{Type: "mail"}))[0].Reply.(*rota.Enqueued).Jobs[0].Job
	b.catchUp(t)
	want(t, "the sender", &ownA, rota.EventJobEnqueued)
	want(t, "the sender as another", &othersA)
	want(t, "the other as sender", &ownB)
	want(t, "the other", &othersB, rota.EventJobEnqueued)

	apply(t, b, claim())
	a.catchUp(t)
	want(t, "the other", &othersA, rota.EventJobStarted)
	want(t, "the sender", &ownB, rota.EventJobStarted)

	apply(t, a, &rota.Cancel{Meta: rota.NewMeta("ada"), JobID: job.ID, Reason: "no"})
	b.catchUp(t)
	want(t, "the sender", &ownA, rota.EventJobStopping)
	want(t, "the other", &othersB, rota.EventJobStopping)
	if len(stopsA) > 0 || !slices.Equal(stopsB, []string{job.ID.String()}) {
		t.Errorf("the sender is asked to stop %v, and the other %v", stopsA, stopsB)
	}
	b.Lost("a gap")
	a.Lost("without a watcher")
	if !slices.Equal(lost, []string{"a gap"}) {
		t.Errorf("lost: %v", lost)
	}
	endOthers()
	apply(t, a, enqueue(rota.NewJob{Type: "mail"}))
	b.catchUp(t)
	want(t, "an ended watch", &othersB)
	want(t, "the sender as another", &othersA)
}

func TestSharedEventsGoWithTheNextEntry(t *testing.T) {
	nodes := openNodes(t, 2)
	a, b := nodes[0], nodes[1]
	var ownA, othersA, othersB seen
	a.Watch(ownA.see)
	a.WatchOthers(othersA.see, nil)
	b.WatchOthers(othersB.see, nil)
	a.Share([]rota.Event{{Kind: rota.EventNodeJoined, At: time.Now(), Name: "a"}})
	a.Share([]rota.Event{{Kind: rota.EventGroupFinished, At: time.Now()}})
	apply(t, a, enqueue(rota.NewJob{Type: "mail"}))
	if a.length() != 1 {
		t.Errorf("the log has %d entries", a.length())
	}
	b.catchUp(t)
	want(t, "the other", &othersB, rota.EventJobEnqueued, rota.EventNodeJoined, rota.EventGroupFinished)
	want(t, "the sender", &ownA, rota.EventJobEnqueued)
	want(t, "the sender as another", &othersA)
	apply(t, a, enqueue(rota.NewJob{Type: "mail"}))
	b.catchUp(t)
	want(t, "the other", &othersB, rota.EventJobEnqueued)
}

// TestSharedEventsOutliveCommandThatIsNotAppended covers a claim whose job another process has claimed first.
func TestSharedEventsOutliveCommandThatIsNotAppended(t *testing.T) {
	nodes := openNodes(t, 2)
	a, b := nodes[0], nodes[1]
	var othersB seen
	apply(t, a, enqueue(rota.NewJob{Type: "mail"}))
	claim := func() rota.Command {
		return &rota.Claim{Meta: rota.NewMeta(""), Worker: "w", Types: []string{"mail"}, Limit: 1, Lease: time.Minute, Seed: rota.NewToken()}
	}
	a.rival = func() { apply(t, b, claim()) }
	a.Share([]rota.Event{{Kind: rota.EventNodeLeader, At: time.Now(), Name: "a"}})
	if apply(t, a, claim()); a.length() != 2 {
		t.Fatalf("the log has %d entries", a.length())
	}
	b.WatchOthers(othersB.see, nil)
	apply(t, a, enqueue(rota.NewJob{Type: "mail"}))
	b.catchUp(t)
	want(t, "the other", &othersB, rota.EventJobEnqueued, rota.EventNodeLeader)
}

func TestSharedEventsGetAnEntryOfTheirOwn(t *testing.T) {
	nodes := openNodes(t, 2)
	a, b := nodes[0], nodes[1]
	var othersB seen
	b.WatchOthers(othersB.see, nil)
	a.Share([]rota.Event{{Kind: rota.EventNodeLeader, At: time.Now(), Name: "a"}})
	for deadline := time.Now().Add(20 * time.Second); a.length() == 0 && time.Now().Before(deadline); {
		time.Sleep(20 * time.Millisecond)
	}
	b.catchUp(t)
	want(t, "the other", &othersB, rota.EventNodeLeader)
	if a.length() != 1 {
		t.Errorf("the log has %d entries", a.length())
	}
	a.catchUp(t)
	checkEqual(t, nodes)
	a.Share([]rota.Event{{Kind: rota.EventNodeLeft, At: time.Now(), Name: "a"}})
	must(t, a.Close())
	if a.length() != 2 {
		t.Errorf("the log has %d entries after the close, want that of the last event, too", a.length())
	}
	a.Share([]rota.Event{{Kind: rota.EventNodeLeft, At: time.Now(), Name: "a"}})
	if a.length() != 2 {
		t.Errorf("a closed store shares events")
	}
}

func TestInvalidCommandsDoNotEnterTheLog(t *testing.T) {
	nodes := openNodes(t, 2)
	a := nodes[0]
	invalid := enqueue(rota.NewJob{Type: ""})
	results := apply(t, a, invalid, nil, &rota.Cancel{Meta: rota.NewMeta("ada")})
	for i, r := range results {
		if r.Err == nil || r.Err.Code != rota.Invalid {
			t.Errorf("command %d is answered with %v", i, r.Err)
		}
	}
	if a.length() != 0 {
		t.Fatalf("the log has %d entries", a.length())
	}
	results = apply(t, a, invalid, enqueue(rota.NewJob{Type: "mail"}), invalid, enqueue(rota.NewJob{Type: "web"}))
	for i, valid := range []bool{false, true, false, true} {
		if (results[i].Err == nil) != valid {
			t.Errorf("command %d is answered with %v", i, results[i].Err)
		}
	}
	if jobs := results[3].Reply.(*rota.Enqueued).Jobs; jobs[0].Job.Type != "web" {
		t.Errorf("the last command has the answer of another: %s", jobs[0].Job.Type)
	}
	body := a.log.entries[0].body
	e, err := logstore.DecodeEntry(body)
	if err != nil || len(e.Batch.Commands) != 2 || a.length() != 1 {
		t.Errorf("the log has %d entries, the first with %d commands, %v", a.length(), len(e.Batch.Commands), err)
	}
	_, err = a.Apply(t.Context(), rota.Batch{Commands: make([]rota.Command, rota.BatchMax+1)})
	if rota.CodeOf(err) != rota.Invalid {
		t.Errorf("a batch that is too long: %v", err)
	}
	checkEqual(t, nodes)
}

// TestLargeBatchHasSeveralEntries sends more than an entry can hold.
func TestLargeBatchHasSeveralEntries(t *testing.T) {
	nodes := openNodes(t, 2)
	var commands []rota.Command
	params := []byte(`{"x":"` + strings.Repeat("x", rota.ParamsMax-8) + `"}`)
	for size := 0; size <= logstore.EntryBytesMax+logstore.EntryBytesMax/4; {
		c := enqueue()
		for range 4 {
			c.Jobs = append(c.Jobs, rota.NewJob{Type: "mail", Params: params})
			size += len(params)
		}
		commands = append(commands, c)
	}
	results := apply(t, nodes[0], commands...)
	for i, r := range results {
		if r.Err != nil || r.Reply.(*rota.Enqueued).Jobs[0].Job.ID != commands[i].(*rota.Enqueue).JobID(0) {
			t.Fatalf("command %d is answered with %+v", i, r)
		}
	}
	if nodes[0].length() != 2 {
		t.Errorf("the log has %d entries", nodes[0].length())
	}
	nodes[1].catchUp(t)
	if nodes[0].Applied() != nodes[1].Applied() {
		t.Error("the replicas differ")
	}
}

func TestEmptyClaimIsNotAppended(t *testing.T) {
	nodes := openNodes(t, 2)
	a, b := nodes[0], nodes[1]
	for range 3 {
		results := apply(t, a, claim(), &rota.Reap{Meta: rota.NewMeta("")}, &rota.Ready{Meta: rota.NewMeta("")})
		if results[0].Err != nil || len(results[0].Reply.(*rota.Claimed).Jobs) > 0 {
			t.Errorf("answered with %+v", results[0])
		}
	}
	if a.length() != 0 {
		t.Errorf("empty claims have %d entries", a.length())
	}
	apply(t, b, enqueue(rota.NewJob{Type: "mail"})) // which a has not applied yet
	if jobs := apply(t, a, claim())[0].Reply.(*rota.Claimed).Jobs; len(jobs) != 1 {
		t.Errorf("a claim does not find the job of another process: %v", jobs)
	}
	if a.length() != 2 {
		t.Errorf("the log has %d entries", a.length())
	}
	for range 5 {
		apply(t, a, claim())
		apply(t, b, claim())
	}
	if a.length() > 4 { // after a claim that found jobs, the next one may be appended without a try
		t.Errorf("empty claims have %d entries", a.length()-2)
	}
	checkEqual(t, nodes)
}

// TestPruneOfTwoProcesses prunes the audit by both, in turn and at the same time.
func TestPruneOfTwoProcesses(t *testing.T) {
	nodes := openNodes(t, 2)
	for i := range 6 {
		apply(t, nodes[i%2], &rota.PutThrottle{Meta: rota.NewMeta("ada"), Spec: rota.ThrottleSpec{Global: i + 1}})
	}
	later := time.Now().Add(time.Hour)
	prune := func(n *node, want int) {
		t.Helper()
		if removed, err := n.PruneAudit(t.Context(), later, 2, nil); removed != want || err != nil {
			t.Errorf("%d entries were removed, %v; want %d", removed, err, want)
		}
	}
	prune(nodes[0], 2)
	prune(nodes[1], 2)
	var both sync.WaitGroup
	for _, n := range nodes {
		both.Go(func() {
			if _, err := n.PruneAudit(t.Context(), later, 2, nil); err != nil {
				t.Error(err)
			}
		})
	}
	both.Wait()
	length := nodes[0].length()
	prune(nodes[0], 0)
	prune(nodes[1], 0)
	if nodes[0].length() != length {
		t.Error("a prune that finds nothing has an entry")
	}
	for _, n := range nodes {
		n.catchUp(t)
		report, err := n.VerifyAudit(t.Context(), rota.AuditTrust{})
		if err != nil || report.Fault != nil || report.Anchor.Seq != 6 {
			t.Errorf("%+v, %v", report, err)
		}
		if sealed, err := n.SealAudit(t.Context(), 10); sealed != 0 || err != nil {
			t.Errorf("sealed %d, %v", sealed, err)
		}
	}
	checkEqual(t, nodes)
}
