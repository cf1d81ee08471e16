package rota

import "context"

// StoreAs returns the first store in a chain of wrappers that implements an interface, such as
// SharedEvents. A wrapper has a method Unwrap that returns the store that it wraps.
func StoreAs[T any](store Store) (found T, ok bool) {
	for store != nil {
		if found, ok = store.(T); ok {
			return found, true
		}
		wrapper, is := store.(interface{ Unwrap() Store })
		if !is {
			break
		}
		store = wrapper.Unwrap()
	}
	return found, false
}

// LoginSecret is implemented by a store that keeps a random secret for its processes. The challenges of users that do not
// exist follow from it.
type LoginSecret interface {
	LoginSecret(ctx context.Context) (string, error)
}

// Bus is implemented by a store that several processes share. It carries small messages from one
// process to all others. A message is a hint: it may be lost, and a process behind a pooler sends
// messages and receives none. What must not be lost is a row.
type Bus interface {
	// Send sends a message to the other processes, soon and without waiting. A text that
	// is longer than BusTextMax is Invalid.
	Send(topic, text string) error
	// Receive calls a function with each message of a topic that another process has
	// sent, one after the other. The function must return quickly. The returned function
	// ends the subscription.
	Receive(topic string, handle func(text string)) (stop func())
}

// BusTextMax is the length limit of a message, in bytes.
const BusTextMax = 1 << 10

// SharedEvents is implemented by a store that several processes share. Store.Watch has only the
// events of the commits of one process; SharedEvents has those of all others.
type SharedEvents interface {
	// WatchOthers calls see with the events of other processes: each event once, and the
	// events of one process in their order. It calls lost, with the reason, when events of
	// others may be missing between the last call of see and the next one. Other processes
	// send their events only while some process watches, so a watch costs all of them. Both
	// functions must return quickly and must not call the store. The returned function ends
	// the watch.
	WatchOthers(see func([]Event), lost func(reason string)) (stop func())
	// WatchStops calls a function with the jobs whose runs another process has asked to
	// stop. It needs no watch of events. A stop may be lost: the next heartbeat of the run
	// has it, too.
	WatchStops(stop func(jobs []ID)) (end func())
	// Share sends events that this process publishes itself, such as group.finished, to
	// the processes that watch.
	Share(events []Event)
}
