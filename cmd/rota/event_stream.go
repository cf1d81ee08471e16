package main

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// eventStream is a stream as it is read, and where it stands.
type eventStream struct {
	r      *bufio.Reader
	body   io.Closer
	lastID string
}

// stream opens the events after one that is known, or those to come.
func (a *app) stream(ctx context.Context, query url.Values, lastID string) (*eventStream, error) {
	response, err := a.open(ctx, request{method: http.MethodGet, path: "/events", query: query, accept: "text/event-stream", lastID: lastID})
	if err != nil {
		return nil, err
	}
	return &eventStream{bufio.NewReader(response.Body), response.Body, lastID}, nil
}

// event is one message of a stream.
type event struct{ id, name, data string }

// next reads the next message that says something.
func (s *eventStream) next() (event, error) {
	for {
		if e, err := s.message(); err != nil || e.data != "" {
			return e, err
		}
	}
}

// message reads one message, which may be nothing but an id that says where the stream stands. Lines that begin with a
// colon only keep the connection open. Where it stands is noted when the message is whole: one that was cut is sent again.
func (s *eventStream) message() (e event, err error) {
	for {
		line, err := s.r.ReadString('\n')
		if err != nil {
			return event{}, err
		}
		line = strings.TrimRight(line, "\r\n")
		if line == "" {
			if e.id != "" {
				s.lastID = e.id
			}
			return e, nil
		}
		field, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch field {
		case "id":
			e.id = value
		case "event":
			e.name = value
		case "data":
			if e.data != "" {
				e.data += "\n"
			}
			e.data += value
		}
	}
}
