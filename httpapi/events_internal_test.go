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

// silent is a store in which nothing happens.
type silent struct{ rota.Store }

func (silent) Watch(func([]rota.Event)) func() { return func() {} }

// TestAStreamBeats holds a stream in which nothing happens to its heartbeat.
func TestAStreamBeats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		handler, err := New(Config{Store: silent{}, Token: "a-token-that-nobody-guesses"})
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
			t.Errorf("it beats %d times: %s", n, w.Body)
		}
		stop()
		<-over // it ends with its request
	})
}
