package postgres

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rotajobs/rota"
)

const (
	busPayloadMax = 7_900                  // bytes of one notification; PostgreSQL refuses 8,000
	busQueueMax   = 1_024                  // messages that wait to be sent
	busBatchMax   = 64                     // notifications in one transaction
	busGap        = 25 * time.Millisecond  // between two transactions: each wakes every process
	busSendMax    = 10 * time.Second       // time limit of one transaction
	busLastMax    = time.Second            // the same from the moment when the store closes
	busBackoff    = 100 * time.Millisecond // pause after messages that could not be sent
)

// The topics of the store itself. Other topics belong to the callers of Send.
const (
	topicHello  = "rota.hello"  // a process listens from now on, and asks which processes want events
	topicWant   = "rota.want"   // the sender wants events
	topicEvents = "rota.events" // numbered events
	topicStop   = "rota.stop"   // jobs whose runs are to stop
)

// bus carries messages between the processes of the store, over NOTIFY. NOTIFY takes a lock that
// all transactions with a NOTIFY share. The bus therefore sends after the commit, in transactions of
// its own that do not wait for the disk, and many messages in one. The listener receives messages on
// its connection.
type bus struct {
	store   *Store
	channel string
	name    string        // sender of the messages of this process
	signal  chan struct{} // there is something to send

	forwarder forwarder // sends events of this process
	interest  interest  // receives events of others

	mu     sync.Mutex
	queue  []busMessage
	topics map[string][]*topicHandler // never changed in place
}

// busMessage is one notification.
type busMessage struct {
	From  string          `json:"f"`
	Topic string          `json:"t"`
	Body  json.RawMessage `json:"b,omitempty"`
}

type topicHandler struct{ handle func(body json.RawMessage) }

var _ rota.Bus = (*Store)(nil)

func newBus(s *Store, name string) *bus {
	b := &bus{
		store: s, channel: s.config.Schema + "_bus", name: name, signal: make(chan struct{}, 1), topics: map[string][]*topicHandler{},
	}
	b.forwarder.init(b.wake)
	b.interest.init(b.wake)
	b.subscribe(topicHello, func(json.RawMessage) { b.interest.announce() })
	return b
}

// Send sends a message to the other processes.
func (s *Store) Send(topic, text string) error {
	if len(text) > rota.BusTextMax {
		return rota.Invalidf("text", "has %d bytes; at most %d are allowed", len(text), rota.BusTextMax)
	}
	s.bus.send(topic, text)
	return nil
}

// Receive calls a function with the messages of a topic.
func (s *Store) Receive(topic string, handle func(text string)) (stop func()) {
	return s.bus.subscribe(topic, func(body json.RawMessage) {
		var text string
		if json.Unmarshal(body, &text) == nil {
			handle(text)
		}
	})
}

// subscribe calls a function with the body of each message of a topic.
func (b *bus) subscribe(topic string, handle func(json.RawMessage)) (stop func()) {
	one := &topicHandler{handle}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.topics[topic] = append(slices.Clone(b.topics[topic]), one)
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.topics[topic] = slices.DeleteFunc(slices.Clone(b.topics[topic]), func(other *topicHandler) bool { return other == one })
	}
}

// stopsMax is how many jobs one message names.
const stopsMax = 150

// sendStops tells the other processes which runs are to stop.
func (b *bus) sendStops(jobs []rota.ID) {
	for chunk := range slices.Chunk(jobs, stopsMax) {
		b.send(topicStop, chunk)
	}
}

// send queues a message. A full queue drops it.
func (b *bus) send(topic string, body any) {
	text, err := json.Marshal(body)
	if err != nil {
		return // no body of this package fails to encode
	}
	b.mu.Lock()
	if len(b.queue) < busQueueMax {
		b.queue = append(b.queue, busMessage{From: b.name, Topic: topic, Body: text})
	}
	b.mu.Unlock()
	b.wake()
}

func (b *bus) wake() {
	select {
	case b.signal <- struct{}{}:
	default:
	}
}

// receive handles a notification of another process.
func (b *bus) receive(payload string) {
	if strings.HasPrefix(payload, `{"f":"`+b.name) { // its own messages arrive, too
		return
	}
	var m busMessage
	if json.Unmarshal([]byte(payload), &m) != nil || m.From == b.name {
		return
	}
	switch m.Topic {
	case topicWant:
		b.forwarder.receiveWant(m.From, m.Body)
	case topicEvents:
		b.interest.receiveEvents(m.From, m.Body)
	}
	b.mu.Lock()
	handlers := b.topics[m.Topic]
	b.mu.Unlock()
	for _, one := range handlers {
		one.handle(m.Body)
	}
}

// sendLoop sends messages until ctx ends, and then the rest.
func (b *bus) sendLoop(ctx context.Context) {
	repeat := time.NewTicker(announceEvery)
	defer repeat.Stop()
	for ctx.Err() == nil {
		select {
		case <-b.signal:
		case <-repeat.C:
			b.interest.announce()
			continue
		case <-ctx.Done():
			continue
		}
		if !b.sendAll(ctx) {
			sleep(ctx, busBackoff)
		}
	}
	b.forwarder.close()
	b.sendAll(ctx)
}

// sendAll sends until nothing is left, and reports whether all was sent.
func (b *bus) sendAll(ctx context.Context) bool {
	for {
		payloads, events := b.take()
		if len(payloads) == 0 {
			return true
		}
		if err := b.notify(ctx, payloads); err != nil {
			if events { // the transaction may have committed although its answer is lost
				b.forwarder.lose()
			}
			return false
		}
		sleep(ctx, busGap)
	}
}

// notify sends notifications in one transaction. When the store closes, the transaction continues
// for a moment: a store that closes lends no connection to others, but its pool is open until the
// loops have ended.
func (b *bus) notify(ctx context.Context, payloads []string) error {
	within, cancel := context.WithTimeout(context.WithoutCancel(ctx), busSendMax)
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(busLastMax, cancel) })()
	conn, err := b.store.pool.Acquire(within)
	if err != nil {
		return err
	}
	defer conn.Release()
	return b.store.session(conn).send(within, statement{sql: sqlNotifyAll, params: []param{textNotNull(b.channel), textsParam(payloads)}})
}

// A message need not survive a crash, so its transaction does not wait for the disk.
const sqlNotifyAll = `
SELECT set_config('synchronous_commit', 'off', true), count(pg_notify($1, payload))
FROM unnest($2) payload`

// take returns the next notifications, and whether events are among them.
func (b *bus) take() (payloads []string, events bool) {
	add := func(m busMessage) {
		text, err := json.Marshal(m)
		if err == nil && len(text) <= busPayloadMax {
			payloads = append(payloads, string(text))
		}
	}
	if want, due := b.interest.takeAnnouncement(); due {
		add(busMessage{From: b.name, Topic: topicWant, Body: want})
	}
	b.mu.Lock()
	n := min(len(b.queue), busBatchMax-len(payloads))
	for _, m := range b.queue[:n] {
		add(m)
	}
	b.queue = slices.Clone(b.queue[n:])
	b.mu.Unlock()
	for len(payloads) < busBatchMax {
		body := b.forwarder.takeMessage(busPayloadMax - busHeadMax)
		if body == nil {
			break
		}
		events = true
		add(busMessage{From: b.name, Topic: topicEvents, Body: body})
	}
	return payloads, events
}

// busHeadMax bounds the sender and the topic of a notification.
const busHeadMax = 100

// helloPayload is the message that a process sends when it listens.
func (b *bus) helloPayload() string {
	text, _ := json.Marshal(busMessage{From: b.name, Topic: topicHello}) // it has only texts
	return string(text)
}

// connected is called when the listener has connected and sent its hello, before it receives.
func (b *bus) connected() {
	b.forwarder.asked()
	b.interest.reconnected()
}
