package httpapi

import (
	"encoding/json"
	"net/http/httptest"
	"testing"
	"time"
)

func TestDurationAcceptsDays(t *testing.T) {
	for text, want := range map[string]time.Duration{`"1d"`: 24 * time.Hour, `"1d12h"`: 36 * time.Hour, `"90s"`: 90 * time.Second} {
		var d Duration
		if err := json.Unmarshal([]byte(text), &d); err != nil || time.Duration(d) != want {
			t.Errorf("%s is read as %v, %v", text, time.Duration(d), err)
		}
	}
}

func TestJSONDoesNotEscapeHTML(t *testing.T) {
	w := httptest.NewRecorder()
	writeJSON(w, 200, "application/json", map[string]any{"error": Text(`a < b && "c" > d`), "params": json.RawMessage(`{"if":"a>b"}`)})
	if got, want := w.Body.String(), `{"error":"a < b && \"c\" > d","params":{"if":"a>b"}}`+"\n"; got != want {
		t.Errorf("got %s", got)
	}
}
