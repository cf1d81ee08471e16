package pgwire

import "sync"

// messageQueue holds messages that were read ahead. One goroutine adds them and another takes
// them.
type messageQueue struct {
	mu     sync.Mutex
	frames []frame
	first  int // index in frames of the next one to take
	bytes  int
	end    error // why no more messages arrive; nil: more may arrive

	ready  chan struct{} // signals a message or the end
	space  chan struct{} // signals free space
	closed chan struct{} // closed when no more messages are taken
}

// Limits of the read-ahead. A client that sends more waits until messages were answered.
const (
	readAheadBytes  = 1 << 20
	readAheadFrames = 1024
)

func newMessageQueue() *messageQueue {
	return &messageQueue{ready: make(chan struct{}, 1), space: make(chan struct{}, 1), closed: make(chan struct{})}
}

// put adds a message and waits while the queue is full. It returns false after the queue was
// closed.
func (b *messageQueue) put(f frame) bool {
	for !b.add(f) {
		select {
		case <-b.space:
		case <-b.closed:
			return false
		}
	}
	notify(b.ready)
	return true
}

func (b *messageQueue) add(f frame) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if waiting := len(b.frames) - b.first; waiting > 0 && (waiting >= readAheadFrames || b.bytes+len(f.body) > readAheadBytes) {
		return false
	}
	if b.first == len(b.frames) {
		b.frames, b.first = b.frames[:0], 0
	}
	b.frames = append(b.frames, f)
	b.bytes += len(f.body)
	return true
}

// finish records the error that ends the messages.
func (b *messageQueue) finish(err error) {
	b.mu.Lock()
	b.end = err
	b.mu.Unlock()
	notify(b.ready)
}

// take removes the next message, if there is one.
func (b *messageQueue) take() (f frame, some bool, end error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.first == len(b.frames) {
		return frame{}, false, b.end
	}
	f = b.frames[b.first]
	b.frames[b.first] = frame{}
	b.first++
	b.bytes -= len(f.body)
	notify(b.space)
	return f, true, nil
}

// peek returns the type of the next message without removing it.
func (b *messageQueue) peek() (kind byte, some bool, end error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.first == len(b.frames) {
		return 0, false, b.end
	}
	return b.frames[b.first].kind, true, nil
}

// notify signals a current or future receiver without blocking.
func notify(ready chan struct{}) {
	select {
	case ready <- struct{}{}:
	default:
	}
}
