package pgwire

import "sync"

// inbox holds the messages that were read ahead. One goroutine puts them in and
// another takes them out.
type inbox struct {
	mu     sync.Mutex
	frames []frame
	first  int // of frames: those before it were taken
	bytes  int
	end    error // what comes behind the last message; nil: more may come

	ready chan struct{} // there is something to take
	room  chan struct{} // there is room again
	shut  chan struct{} // nobody takes anything any more
}

// The bounds of what is read ahead. Who sends more waits until it was answered.
const (
	aheadBytes  = 1 << 20
	aheadFrames = 1024
)

func newInbox() *inbox {
	return &inbox{ready: make(chan struct{}, 1), room: make(chan struct{}, 1), shut: make(chan struct{})}
}

// put adds a message, when there is room. It says no when nobody takes any more.
func (b *inbox) put(f frame) bool {
	for !b.add(f) {
		select {
		case <-b.room:
		case <-b.shut:
			return false
		}
	}
	wake(b.ready)
	return true
}

func (b *inbox) add(f frame) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if waiting := len(b.frames) - b.first; waiting > 0 && (waiting >= aheadFrames || b.bytes+len(f.body) > aheadBytes) {
		return false
	}
	if b.first == len(b.frames) {
		b.frames, b.first = b.frames[:0], 0
	}
	b.frames = append(b.frames, f)
	b.bytes += len(f.body)
	return true
}

// finish says what comes behind the last message.
func (b *inbox) finish(err error) {
	b.mu.Lock()
	b.end = err
	b.mu.Unlock()
	wake(b.ready)
}

// take takes the next message out, if there is one.
func (b *inbox) take() (f frame, some bool, end error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.first == len(b.frames) {
		return frame{}, false, b.end
	}
	f = b.frames[b.first]
	b.frames[b.first] = frame{}
	b.first++
	b.bytes -= len(f.body)
	wake(b.room)
	return f, true, nil
}

// peek says what the next message is without taking it out.
func (b *inbox) peek() (kind byte, some bool, end error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.first == len(b.frames) {
		return 0, false, b.end
	}
	return b.frames[b.first].kind, true, nil
}

// wake leaves a mark that somebody who waits, or will, finds.
func wake(mark chan struct{}) {
	select {
	case mark <- struct{}{}:
	default:
	}
}
