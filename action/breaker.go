package action

import (
	"errors"
	"sync"
	"time"
)

// The bounds of an outage. Its first pause is shorter than the first backoff of a
// delivery: one that found its receiver down may try it when it comes again.
const (
	pauseFirst = 5 * time.Second
	pauseMax   = time.Minute
	outagesMax = 1_000
)

// breaker keeps receivers that do not answer from taking the slots of those that
// do. An address that could not be reached is left alone for a pause; then one
// delivery finds out whether it is back, and another pause follows, twice as long,
// if it is not. Any answer ends that. It is safe for concurrent use.
type breaker struct {
	mu   sync.Mutex
	down map[string]*outage // by address
}

// outage is what is known of an address that could not be reached.
type outage struct {
	pause   time.Duration
	until   time.Time
	probing bool // a delivery is finding out
}

// acquire asks whether a delivery to an address may be tried. What it returns is to
// be called with what came of that.
func (b *breaker) acquire(address string) (leave func(error), may bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	o := b.down[address]
	if o == nil {
		return func(err error) { b.record(address, nil, err) }, true
	}
	if o.probing || time.Now().Before(o.until) {
		return nil, false
	}
	o.probing = true
	return func(err error) { b.record(address, o, err) }, true
}

// record takes down what came of a delivery, which found out about an outage if one
// is given. What went wrong on this side says nothing of the other.
func (b *breaker) record(address string, probed *outage, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if probed != nil {
		probed.probing = false
	}
	switch {
	case err == nil:
		delete(b.down, address)
	case !isNoAnswer(err):
	case probed != nil:
		probed.begin(min(2*probed.pause, pauseMax))
	case b.down[address] == nil: // the first of those that were under way together
		b.add(address)
	}
}

// add begins an outage. Of too many, any is forgotten: to find out again costs no
// more than finding out.
func (b *breaker) add(address string) {
	if b.down == nil {
		b.down = map[string]*outage{}
	}
	for other := range b.down {
		if len(b.down) < outagesMax {
			break
		}
		delete(b.down, other)
	}
	o := &outage{}
	o.begin(pauseFirst)
	b.down[address] = o
}

func (o *outage) begin(pause time.Duration) { o.pause, o.until = pause, time.Now().Add(pause) }

// isNoAnswer reports whether an error says that nobody answered.
func isNoAnswer(err error) bool {
	var f *failure
	return errors.As(err, &f) && (f.code == codeLate || f.code == codeNetwork)
}
