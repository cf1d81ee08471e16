package main

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// TestCutLogExitsUnavailable: a broken connection is not the end of the log.
func TestCutLogExitsUnavailable(t *testing.T) {
	for _, row := range []struct {
		line string
		cut  bool
		want int
	}{
		{"job logs", false, exitDone}, {"job logs -f", false, exitDone}, {"job logs", true, exitUnavailable}, {"job logs -f", true, exitUnavailable},
	} {
		requests := 0
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if requests++; requests > 1 {
				http.Error(w, "gone", http.StatusServiceUnavailable)
				return
			}
			io.WriteString(w, "first line\n")
			http.NewResponseController(w).Flush()
			if row.cut {
				panic(http.ErrAbortHandler)
			}
		}))
		var out, errs bytes.Buffer
		code := run(words(row.line+" "+sampleID+" --url "+server.URL), environment{
			in: strings.NewReader(""), out: &out, err: &errs, now: time.Now, reconnectTimeout: time.Nanosecond, getenv: func(string) string { return "" },
		})
		server.Close()
		if code != row.want || out.String() != "first line\n" {
			t.Errorf("rota %s, cut: %v, exits with %d: %s%s", row.line, row.cut, code, &out, &errs)
		}
	}
}
