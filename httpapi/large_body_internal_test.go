package httpapi

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
)

// TestLargeBodiesWaitForSlot sends a large body that does not end. Other large bodies wait for its
// slot or time out; short bodies do not wait.
func TestLargeBodiesWaitForSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		handler, err := New(Config{Store: eventlessStore{}, Token: "a-token-that-nobody-guesses", LargeMax: 1})
		if err != nil {
			t.Fatal(err)
		}
		send := func(body io.Reader, length int64) int {
			r := httptest.NewRequest(http.MethodPost, base+"/jobs/batch", body)
			r.ContentLength = length
			r.Header.Set("Authorization", "Bearer a-token-that-nobody-guesses")
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, r)
			return w.Code
		}
		in, out := io.Pipe()
		slow, waiting := make(chan int), make(chan int)
		go func() { slow <- send(in, -1) }()
		synctest.Wait()
		if got := send(strings.NewReader("{"), 1); got != http.StatusBadRequest {
			t.Errorf("a short body got %d", got)
		}
		if got := send(strings.NewReader("{"), bodyMaxDefault+1); got != http.StatusServiceUnavailable {
			t.Errorf("a second large body got %d", got)
		}
		go func() { waiting <- send(strings.NewReader("{"), -1) }()
		synctest.Wait()
		out.Close()
		if one, two := <-slow, <-waiting; one != http.StatusBadRequest || two != http.StatusBadRequest {
			t.Errorf("%d and %d", one, two)
		}
	})
}
