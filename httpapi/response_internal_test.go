package httpapi

import (
	"encoding/json"
	"net/http/httptest"
	"testing"

	"github.com/rotajobs/rota/api"
)

func TestJSONDoesNotEscapeHTML(t *testing.T) {
	w := httptest.NewRecorder()
	writeJSON(w, 200, "application/json", map[string]any{"error": api.Text(`a < b && "c" > d`), "params": json.RawMessage(`{"if":"a>b"}`)})
	if got, want := w.Body.String(), `{"error":"a < b && \"c\" > d","params":{"if":"a>b"}}`+"\n"; got != want {
		t.Errorf("got %s", got)
	}
}
