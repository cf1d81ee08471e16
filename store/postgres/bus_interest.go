package postgres

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/codec"
)

const (
	announceEvery = 3 * time.Second  // between two announcements of interest
	sendersMax    = 65_536           // senders whose messages are counted
	pollReset     = 10 * time.Second // between two reports that events of other nodes do not arrive
)

// interest receives the events of other processes for the watchers of this one. It announces at
// once, and then at intervals, that this process wants events: an interval is long enough to cost
// nothing, and a process that has missed some announcements has not forgotten the last one.
type interest struct {
	wake func()

	mu       sync.Mutex
	watchers map[*othersWatch]bool
	since    time.Time         // since when there are watchers
	due      bool              // an announcement is to be sent
	numbers  map[string]uint64 // of the last message of each sender
}

type othersWatch struct {
	see  func([]rota.Event)
	lost func(reason string)
}

var _ rota.SharedEvents = (*Store)(nil)

// The reasons why events of other processes are missing.
const (
	lostBySender   = "another process has more events than it can send, or was not connected"
	lostOnTheWay   = "events of another process did not arrive"
	lostConnection = "the connection that receives the events of other processes was lost"
	lostPolling    = "the events of other nodes do not arrive, because the store is behind a pooler"
	lostCommit     = "the answer to a commit was lost, and its events with it"
)

// WatchOthers calls see with the events of other processes.
func (s *Store) WatchOthers(see func([]rota.Event), lost func(reason string)) (stop func()) {
	end := s.bus.interest.watch(see, lost)
	if s.dialect.prepares {
		return end
	}
	ctx, cancel := context.WithCancel(context.Background())
	go s.reportPolling(ctx, lost)
	return func() {
		cancel()
		end()
	}
}

// WatchStops calls a function with the jobs whose runs another process has asked to stop.
func (s *Store) WatchStops(stop func(jobs []rota.ID)) (end func()) {
	return s.bus.subscribe(topicStop, func(body json.RawMessage) {
		var jobs []rota.ID
		if json.Unmarshal(body, &jobs) == nil {
			stop(jobs)
		}
	})
}

// Share sends events that this process publishes itself.
func (s *Store) Share(events []rota.Event) { s.bus.forwarder.publish(events) }

const sqlOtherNodes = `
SELECT count(*) > 1
FROM rota_nodes
WHERE until >= ` + clockNow

// reportPolling reports at intervals that events are missing, while there are other nodes.
func (s *Store) reportPolling(ctx context.Context, lost func(reason string)) {
	for ctx.Err() == nil && !s.isClosed() {
		others := false
		_ = s.query(ctx, "list nodes", statement{sql: sqlOtherNodes, eachRow: func(r row) error {
			others = r.Bool(0)
			return nil
		}})
		if others {
			lost(lostPolling)
		}
		sleep(ctx, pollReset)
	}
}

func (i *interest) init(wake func()) {
	i.wake, i.watchers, i.numbers = wake, map[*othersWatch]bool{}, map[string]uint64{}
}

func (i *interest) watch(see func([]rota.Event), lost func(reason string)) (stop func()) {
	w := &othersWatch{see, lost}
	i.mu.Lock()
	if len(i.watchers) == 0 {
		i.since = time.Now()
		clear(i.numbers)
	}
	i.watchers[w] = true
	i.mu.Unlock()
	i.announce()
	return func() {
		i.mu.Lock()
		defer i.mu.Unlock()
		delete(i.watchers, w)
	}
}

// announce asks for an announcement, if there are watchers.
func (i *interest) announce() {
	i.mu.Lock()
	defer i.mu.Unlock()
	if len(i.watchers) > 0 {
		i.due = true
		i.wake()
	}
}

// takeAnnouncement returns the announcement, if one is to be sent.
func (i *interest) takeAnnouncement() (body json.RawMessage, due bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if !i.due || len(i.watchers) == 0 {
		return nil, false
	}
	i.due = false
	body, _ = json.Marshal(wantMessage{Age: time.Since(i.since).Milliseconds()})
	return body, true
}

// receiveEvents passes the events of another process to the watchers.
func (i *interest) receiveEvents(from string, body json.RawMessage) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if len(i.watchers) == 0 {
		return
	}
	var m eventsMessage
	err := json.Unmarshal(body, &m)
	last, known := i.numbers[from]
	if len(i.numbers) >= sendersMax && !known {
		clear(i.numbers)
		err = errManySenders
	}
	i.numbers[from] = m.Number
	events, bad := codec.DecodeEvents(m.Events)
	if bad != nil {
		err = bad
	}
	switch {
	case m.Lost:
		i.loseLocked(lostBySender)
	case err != nil || known && m.Number != last+1:
		i.loseLocked(lostOnTheWay)
	}
	if len(events) == 0 {
		return
	}
	for w := range i.watchers {
		w.see(events)
	}
}

var errManySenders = rota.Errorf(rota.Internal, "postgres: bus", "more than %d processes have sent events", sendersMax)

// lose tells the watchers that events are missing.
func (i *interest) lose(reason string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.loseLocked(reason)
}

func (i *interest) loseLocked(reason string) {
	for w := range i.watchers {
		w.lost(reason)
	}
}

// reconnected is called when the listener has connected: what was sent before is missing.
func (i *interest) reconnected() {
	i.mu.Lock()
	defer i.mu.Unlock()
	clear(i.numbers)
	i.loseLocked(lostConnection)
	if len(i.watchers) > 0 {
		i.due = true
		i.wake()
	}
}
