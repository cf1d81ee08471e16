package httpapi_test

import (
	"strings"
	"testing"

	"github.com/rotajobs/rota/api"
)

// TestDeclareTypeOfThisServerConflicts checks that others cannot change a type whose handler depends
// on its declaration.
func TestDeclareTypeOfThisServerConflicts(t *testing.T) {
	s := newServer(t, withEngine(t))
	was := s.get("types/sleep").is(200).text
	for _, body := range []string{`{}`, `{"schema": {"type": "object"}}`, `{"description": "mine"}`} {
		p := s.send("PUT", "types/sleep", body).problem(409, "conflict")
		if !strings.Contains(p.Detail, "type sleep is handled by this server") || !strings.Contains(p.Hint, "POST /types/sleep/pause") {
			t.Errorf("%+v", p)
		}
	}
	s.send("PUT", "types/chatty", `{"max_retries": 9}`).problem(409, "conflict")
	if is := s.get("types/sleep").is(200).text; is != was {
		t.Errorf("%s\nbecame\n%s", was, is)
	}

	stands := read[api.Type](answer{TB: t, text: was})
	s.send("PUT", "types/sleep", map[string]any{"description": stands.Description, "schema": stands.Schema}).is(200)
	if paused := read[api.Type](s.post("types/sleep/pause", nil).is(200)); !paused.Paused {
		t.Errorf("%+v", paused)
	}
}
