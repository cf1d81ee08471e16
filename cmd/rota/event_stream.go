package main

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/rotajobs/rota/internal/apiclient"
)

// eventStream is an open stream of events and the id of the last complete event.
type eventStream struct {
	r      *bufio.Reader
	body   io.Closer
	lastID string
}

// stream opens a stream of the events after lastID, or of new events if lastID is empty.
func (a *app) stream(ctx context.Context, query url.Values, lastID string) (*eventStream, error) {
	response, err := a.open(ctx, apiclient.Request{Method: http.MethodGet, Path: "/events", Query: query, Accept: "text/event-stream", LastEventID: lastID})
	if err != nil {
		return nil, err
	}
	return &eventStream{bufio.NewReader(response.Body), response.Body, lastID}, nil
}

// event is one message of a stream.
type event struct{ id, name, data string }

// next reads the next message with data.
func (s *eventStream) next() (event, error) {
	for {
		if e, err := s.message(); err != nil || e.data != "" {
			return e, err
		}
	}
}

// message reads one message. It may have only an id, which is the position of the stream. Lines that begin with a colon
// only keep the connection open. lastID changes after a complete message, so that the server sends an incomplete one
// again.
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
