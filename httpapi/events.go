package httpapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/access"
	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/api/problem"
	"github.com/rotajobs/rota/eventring"
)

// streamHeartbeat is the interval of comments on an idle stream, which keep proxies from closing it.
const streamHeartbeat = 15 * time.Second

// streamCheck is the interval at which an idle stream checks that its user may still read it.
const streamCheck = time.Second

// Limits of what a stream keeps in memory while its client does not read.
const (
	eventPageMax   = 64       // events read from the ring at a time
	eventFlushSize = 32 << 10 // bytes of text at which the buffer is sent
)

func (a *server) eventRoutes() {
	kinds := make([]string, len(rota.EventKinds))
	for i, k := range rota.EventKinds {
		kinds[i] = string(k)
	}
	get(a, operation{
		method: "GET", path: "/events", id: "stream-events", scope: readScope, tag: "Server", summary: "Follow events",
		description: "Server-sent events of all processes that share the store, from now on or after Last-Event-ID. An event named reset means that events may be missing: reload the data you show. Kinds: " + strings.Join(kinds, ", ") + ".",
		query: []param{
			{name: "kinds", form: formText, doc: "Kinds to deliver, separated by commas; job.* selects all kinds of job.", example: "job.completed,job.failed"},
			{name: "type", form: formName, doc: "Type of the jobs."},
			{name: "schedule", form: formName, doc: "Name of the schedule."},
			{name: "template", form: formName, doc: "Name of the template."},
			{name: "group", form: formID, doc: "Id of the group."},
			{name: "execution", form: formID, doc: "Id of the execution."},
			{name: "last_event_id", form: formText, doc: "Replacement for the header Last-Event-ID, for clients that cannot set it."},
		}, response: api.Event{}, mediaType: "text/event-stream", class: classStream,
	}, streamEvents)
}

// eventFilter selects events.
type eventFilter struct {
	kinds []string
	jobs  filter
}

func (c *call) eventFilter() (f eventFilter, err error) {
	f.jobs = c.filter()
	if !c.query.Has("kinds") {
		return f, nil
	}
	for _, kind := range strings.Split(c.query.Get("kinds"), ",") {
		kind = strings.TrimSpace(kind)
		if !slices.ContainsFunc(rota.EventKinds, func(k rota.EventKind) bool { return kindMatches(kind, string(k)) }) {
			return f, problem.Malformed("kinds", "contains an unknown kind of event; use kinds such as job.completed or job.*")
		}
		f.kinds = append(f.kinds, kind)
	}
	return f, nil
}

func kindMatches(pattern, kind string) bool {
	noun, all := strings.CutSuffix(pattern, "*")
	return pattern == kind || all && strings.HasSuffix(noun, ".") && strings.HasPrefix(kind, noun)
}

func (f *eventFilter) match(e *rota.Event) bool {
	if len(f.kinds) > 0 && !slices.ContainsFunc(f.kinds, func(pattern string) bool { return kindMatches(pattern, string(e.Kind)) }) {
		return false
	}
	j := &f.jobs
	if rota.InternalType(e.Type) && j.typ == "" && j.execution.IsZero() { // events of Rota's own jobs are delivered on request only
		return false
	}
	return (j.typ == "" || e.Type == j.typ) && (j.template == "" || e.Template == j.template) &&
		(j.schedule == "" || e.Schedule == j.schedule) && (j.group.IsZero() || e.GroupID == j.group) &&
		(j.execution.IsZero() || e.ExecutionID == j.execution)
}

// eventStream is one client that follows events. It reads the ring at its own speed: no writer waits
// for it, and it misses events that were overwritten.
type eventStream struct {
	c      *call
	filter eventFilter
	sees   *access.EventFilter
	seq    uint64 // last event delivered
	out    bytes.Buffer
}

func streamEvents(c *call) (reply, error) {
	f, err := c.eventFilter()
	if err != nil {
		return reply{}, err
	}
	defer c.Events.Follow()()
	s := &eventStream{c: c, filter: f, sees: c.Store.Events(), seq: c.Events.Last()}
	if err := s.sees.Valid(c.ctx); err != nil {
		return reply{}, err
	}
	clearDeadlines(c.w)
	h := c.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no")
	c.w.WriteHeader(http.StatusOK)
	s.resume()
	s.run()
	return reply{written: true}, nil
}

// resume sets the position from Last-Event-ID.
func (s *eventStream) resume() {
	s.out.WriteString("retry: 1000\n\n")
	last := s.c.r.Header.Get("Last-Event-ID")
	if last == "" {
		last = s.c.query.Get("last_event_id")
	}
	incarnation, number, _ := strings.Cut(last, "-")
	seq, err := strconv.ParseUint(number, 10, 64)
	switch {
	case last == "":
		s.writePosition()
	case err != nil || incarnation != s.c.Events.Incarnation() || seq > s.seq:
		s.writeReset("the server has restarted since that event")
	default:
		s.seq = seq
	}
}

// run writes events until the client disconnects.
func (s *eventStream) run() {
	beat, check := time.NewTicker(streamHeartbeat), time.NewTicker(streamCheck)
	defer beat.Stop()
	defer check.Stop()
	for {
		changed := s.c.Events.Changed()
		more, open := s.writeNew()
		if !open || !s.flush() {
			return
		}
		if more {
			continue
		}
		select {
		case <-changed:
		case <-beat.C:
			s.out.WriteString(": still here\n")
			s.writePosition()
		case <-check.C:
			if err := s.sees.Valid(s.c.ctx); access.Ended(err) {
				return // the client gets the reason when it connects again
			}
		case <-s.c.ctx.Done():
			return
		}
	}
}

// writeNew buffers new events. It reports whether there may be more, and whether the client accepted what did not fit the
// buffer.
func (s *eventStream) writeNew() (more, open bool) {
	entries, gap := s.c.Events.Page(s.seq, eventPageMax)
	if gap {
		s.seq = s.c.Events.Last()
		s.writeReset("events were lost: the client was too slow")
		return false, true
	}
	for i := range entries {
		s.seq = entries[i].Seq
		switch e := &entries[i].Event; {
		case e.Kind == eventring.Reset:
			s.writeReset(e.Detail)
		case s.filter.match(e):
			sees, err := s.sees.Sees(s.c.ctx, e)
			if err != nil { // the right ended, or the store cannot be read: the client connects again
				return false, false
			}
			if sees {
				s.writeEvent(e)
			}
		}
		if s.out.Len() >= eventFlushSize && !s.flush() {
			return false, false
		}
	}
	return len(entries) == eventPageMax, true
}

func (s *eventStream) writeEvent(e *rota.Event) {
	fmt.Fprintf(&s.out, "id: %s-%d\nevent: %s\ndata: ", s.c.Events.Incarnation(), s.seq, e.Kind)
	text := json.NewEncoder(&s.out)
	text.SetEscapeHTML(false)
	_ = text.Encode(api.NewEvent(e)) // encoding an Event cannot fail; Encode ends the line
	s.out.WriteString("\n")
}

// writePosition sends the current position without an event, so that a client can resume from it.
func (s *eventStream) writePosition() {
	fmt.Fprintf(&s.out, "id: %s-%d\n\n", s.c.Events.Incarnation(), s.seq)
}

func (s *eventStream) writeReset(reason string) {
	fmt.Fprintf(&s.out, "id: %s-%d\nevent: reset\ndata: {\"reason\":%q}\n\n", s.c.Events.Incarnation(), s.seq, reason)
}

// flush sends the buffered text, and reports whether the client accepted it.
func (s *eventStream) flush() bool {
	if s.out.Len() == 0 {
		return true
	}
	extendWriteDeadline(s.c.w)
	_, err := s.out.WriteTo(s.c.w)
	if err == nil {
		err = http.NewResponseController(s.c.w).Flush()
	}
	return err == nil
}
