package httpapi

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rotajobs/rota"
)

// eventlessStore is a store without events.
type eventlessStore struct{ rota.Store }

func (eventlessStore) Watch(func([]rota.Event)) func() { return func() {} }

func TestIdleEventStreamSendsHeartbeats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		handler, err := New(Config{Store: eventlessStore{}, Token: "a-token-that-nobody-guesses"})
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		r := httptest.NewRequestWithContext(ctx, http.MethodGet, base+"/events", nil)
		r.Header.Set("Authorization", "Bearer a-token-that-nobody-guesses")
		w := httptest.NewRecorder()
		over := make(chan struct{})
		go func() {
			handler.ServeHTTP(w, r)
			close(over)
		}()
		time.Sleep(3*streamHeartbeat + time.Second)
		synctest.Wait()
		if n := strings.Count(w.Body.String(), ": still here\n"); n != 3 {
			t.Errorf("%d heartbeats: %s", n, w.Body)
		}
		stop()
		<-over // the stream ends with its request
	})
}

func TestInternalEventsMatchOnlyExplicitFilter(t *testing.T) {
	own := &rota.Event{Kind: rota.EventJobStarted, Type: rota.TypeWebhook, ExecutionID: rota.NewID()}
	for i, test := range []struct {
		filter eventFilter
		want   bool
	}{
		{eventFilter{}, false},
		{eventFilter{kinds: []string{"job.*"}}, false},
		{eventFilter{jobs: filter{typ: rota.TypeWebhook}}, true},
		{eventFilter{jobs: filter{execution: own.ExecutionID}}, true},
		{eventFilter{jobs: filter{typ: "mail"}}, false},
	} {
		if got := test.filter.match(own); got != test.want {
			t.Errorf("%d: match is %v", i, got)
		}
	}
}
