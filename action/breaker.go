package action

import (
	"errors"
	"sync"
	"time"
)

// Limits of an outage. Its first pause is shorter than the first backoff of a
// delivery, so that a delivery refused during the pause can be sent at its retry.
const (
	pauseFirst = 5 * time.Second
	pauseMax   = time.Minute
	outagesMax = 1_000
)

// breaker is a circuit breaker. It prevents receivers that do not answer from
// occupying the slots of the others. After a failure to reach an address, the breaker
// refuses deliveries to it for a pause. Then one delivery probes the address. If it
// fails, the next pause is twice as long. Any answer ends the outage. The breaker is
// safe for concurrent use.
type breaker struct {
	mu   sync.Mutex
	down map[string]*outage // by address
}

// outage is the state of an address that could not be reached.
type outage struct {
	pause   time.Duration
	until   time.Time
	probing bool // a delivery probes the address
}

// acquire reports whether a delivery to an address may be sent. The caller calls the
// returned function with the result of the delivery.
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

// record records the result of a delivery, which was the probe of an outage if one is
// given. A local error does not change the state of the receiver.
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
	case b.down[address] == nil: // the first failure of concurrent deliveries
		b.add(address)
	}
}

// add begins an outage. If there are too many, it removes arbitrary others, which
// costs one more probe each.
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

// isNoAnswer reports whether the receiver did not answer.
func isNoAnswer(err error) bool {
	var f *failure
	return errors.As(err, &f) && (f.code == codeLate || f.code == codeNetwork)
}
