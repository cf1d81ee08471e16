package eventring

import (
	"sync"
	"time"

	"github.com/rotajobs/rota"
)

// readerKeep is how long the ring receives the events of other processes after its last
// reader has left, so that a reader that connects again can continue without a reset.
const readerKeep = time.Minute

// The reason of the reset at which the ring begins to receive events of other processes.
const fromHere = "the events of other processes begin here"

// others receives the events of other processes while there are readers. Its lock is
// taken before that of the store, and that before the lock of the ring.
type others struct {
	shared    rota.SharedEvents // nil: no other process shares the store
	keep      time.Duration
	stopStops func()

	mu      sync.Mutex
	readers int
	stop    func()      // ends the watch; nil: there is none
	expire  *time.Timer // ends it after the last reader has left
	closed  bool
}

// share connects the ring with the other processes that share the store.
func (r *Ring) share(shared rota.SharedEvents) {
	r.others.shared = shared
	r.others.stopStops = shared.WatchStops(func(jobs []rota.ID) {
		r.mu.Lock()
		defer r.mu.Unlock()
		for _, job := range jobs {
			r.stopJob(job)
		}
	})
}

// OnStop calls a function with each job whose run is asked to stop, by this process or
// another. The function must return quickly, and must call neither the store nor the ring.
func (r *Ring) OnStop(handle func(job rota.ID)) (end func()) {
	return subscribe(r, r.stops, handle)
}

func (r *Ring) stopJob(job rota.ID) {
	for _, handle := range r.stops {
		handle(job)
	}
}

// Follow adds a reader, until done is called. A ring with readers has the events of all
// processes that share the store. If it had no reader for a while, it begins with a
// reset, which a reader that starts at Last does not see.
func (r *Ring) Follow() (done func()) {
	o := &r.others
	if o.shared == nil {
		return func() {}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.readers++
	if o.expire != nil {
		o.expire.Stop()
	}
	if o.stop == nil && !o.closed {
		r.addReset(fromHere)
		o.stop = o.shared.WatchOthers(r.addOthers, r.addReset)
	}
	return sync.OnceFunc(o.leave)
}

func (o *others) leave() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.readers--; o.readers == 0 {
		o.expire = time.AfterFunc(o.keep, o.end)
	}
}

// end ends the watch, unless a reader has come back.
func (o *others) end() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.readers == 0 && o.stop != nil {
		o.stop()
		o.stop = nil
	}
}

func (o *others) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	if o.expire != nil {
		o.expire.Stop()
	}
	if o.stop != nil {
		o.stop()
		o.stop = nil
	}
	if o.stopStops != nil {
		o.stopStops()
		o.stopStops = nil
	}
}

// addOthers adds events of other processes. Subscribers do not receive them: each process
// acts on its own events.
func (r *Ring) addOthers(events []rota.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.append(events)
}

// addReset adds an entry that says that events are missing.
func (r *Ring) addReset(reason string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.append([]rota.Event{{Kind: Reset, At: time.Now().UTC(), Detail: reason}})
}
