package worker

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/internal/apiclient"
)

const (
	logPartMax   = 256 << 10       // bytes of one log in a request
	logSendMax   = 1 << 20         // bytes of all logs in a request
	logEvery     = time.Second     // between two requests, unless a log has much to send
	logEveryMax  = 5 * time.Second // the same while the server does not take logs
	logFlushWait = 2 * time.Second // for the rest of a log, before the end of its run is sent without it
)

// logSender sends what runs write, while they continue, with heartbeats of its own. A part is sent again until the server has
// it. A server that does not know the field gets the end of each log with the end of its run.
type logSender struct {
	server  *server
	lease   time.Duration
	logs    *logs
	sending chan struct{} // holds a value while a request is in flight
	refused bool          // the server is older and refuses the field; guarded by sending
}

func newLogSender(server *server, lease time.Duration, logs *logs) *logSender {
	return &logSender{server: server, lease: lease, logs: logs, sending: make(chan struct{}, 1)}
}

// run sends parts until ctx ends.
func (s *logSender) run(ctx context.Context) {
	s.logs.live.Store(true)
	defer s.logs.live.Store(false)
	for wait := logEvery; ; {
		var large <-chan struct{}
		if wait == logEvery {
			large = s.logs.large
		}
		select {
		case <-time.After(wait):
		case <-large:
		case <-ctx.Done():
			return
		}
		refused, ok := s.send(ctx, func(*logTail) bool { return true })
		for ok && slices.ContainsFunc(s.logs.all(), (*logTail).isLarge) {
			refused, ok = s.send(ctx, (*logTail).isLarge)
		}
		s.logs.live.Store(ok)
		switch {
		case refused:
			return
		case ok:
			wait = logEvery
		default:
			wait = min(2*wait, logEveryMax)
		}
	}
}

// flush sends the rest of the logs of runs that have ended.
func (s *logSender) flush(ctx context.Context) {
	ctx, done := context.WithTimeout(ctx, logFlushWait)
	defer done()
	for slices.ContainsFunc(s.logs.all(), (*logTail).isLeft) {
		if _, ok := s.send(ctx, (*logTail).isLeft); !ok {
			return
		}
	}
}

// send sends one request with the next parts of selected logs, and reports whether the server has taken them.
func (s *logSender) send(ctx context.Context, selected func(*logTail) bool) (refused, ok bool) {
	select {
	case s.sending <- struct{}{}:
	case <-ctx.Done():
		return false, false
	}
	defer func() { <-s.sending }()
	if s.refused {
		return true, false
	}
	tails, items := s.parts(selected)
	if len(items) == 0 {
		return false, true
	}
	var answer api.Extended
	body := api.ExtendRequest{Lease: (*api.Duration)(&s.lease), Items: items}
	err := s.server.call(ctx, "extend", apiclient.Request{Method: http.MethodPost, Path: "/extend", Body: body}, &answer)
	if err == nil {
		err = checkLeases("extend", answer.Items, len(items), func(i int) api.ID { return items[i].RunID })
	}
	if err != nil {
		s.refused = rota.CodeOf(err) == rota.Invalid
		return s.refused, false
	}
	ok = true
	for i, t := range tails {
		switch one := &answer.Items[i]; {
		case one.Code == api.LeaseLost:
			t.stored(0, true) // nobody reads it
		case one.LogOffset != nil:
			t.stored(*one.LogOffset, one.LogFull)
		default:
			ok = false // the server could not store it, or ignores the field
		}
	}
	return false, ok
}

// parts returns the parts of one request.
func (s *logSender) parts(selected func(*logTail) bool) (tails []*logTail, items []api.ExtendRunning) {
	bytes := 0
	for _, t := range s.logs.all() {
		if !selected(t) {
			continue
		}
		if part, offset := t.next(); part != "" {
			tails = append(tails, t)
			items = append(items, api.ExtendRunning{LeaseRequest: api.NewLeaseRequest(t.lease), LogPart: api.LogPart{Log: part, LogOffset: offset}})
			if bytes += len(part); bytes >= logSendMax || len(items) == rota.ItemsMax {
				break
			}
		}
	}
	return tails, items
}
