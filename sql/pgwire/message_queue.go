package pgwire

import "sync/atomic"

// messageQueue holds messages that were read ahead. One goroutine adds them and another takes
// them.
type messageQueue struct {
	frames chan frame // closed when no more messages arrive
	end    error      // why; set before frames is closed
	next   *frame     // received, but not taken yet
	bytes  atomic.Int64

	space  chan struct{} // signals free space
	closed chan struct{} // closed when no more messages are taken
}

// Limits of the read-ahead. A client that sends more waits until messages were answered.
const (
	readAheadBytes  = 1 << 20
	readAheadFrames = 128
)

func newMessageQueue() *messageQueue {
	return &messageQueue{frames: make(chan frame, readAheadFrames), space: make(chan struct{}, 1), closed: make(chan struct{})}
}

// put adds a message and waits while the queue is full. It returns false after the queue was
// closed.
func (b *messageQueue) put(f frame) bool {
	size := int64(len(f.body))
	for waiting := b.bytes.Load(); waiting > 0 && waiting+size > readAheadBytes; waiting = b.bytes.Load() {
		select {
		case <-b.space:
		case <-b.closed:
			return false
		}
	}
	b.bytes.Add(size)
	select {
	case b.frames <- f:
		return true
	case <-b.closed:
		return false
	}
}

// finish records the error that ends the messages.
func (b *messageQueue) finish(err error) {
	b.end = err
	close(b.frames)
}

// received keeps a message that was received from frames, or returns the error that ended them.
func (b *messageQueue) received(f frame, more bool) error {
	if !more {
		return b.end
	}
	b.next = &f
	return nil
}

// take removes the message that was received last.
func (b *messageQueue) take() frame {
	f := *b.next
	b.next = nil
	b.bytes.Add(-int64(len(f.body)))
	select {
	case b.space <- struct{}{}:
	default:
	}
	return f
}
