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

// TestDeclareTypeOnlyIfNew checks that a program does not replace the type of another one.
func TestDeclareTypeOnlyIfNew(t *testing.T) {
	s := newServer(t)
	s.send("PUT", "types/mail", `{"description": "theirs"}`, "If-None-Match", "*", "Idempotency-Key", "k").is(201)
	s.send("PUT", "types/mail", `{"description": "theirs"}`, "If-None-Match", "*", "Idempotency-Key", "k").is(201) // sent again
	p := s.send("PUT", "types/mail", `{"description": "mine"}`, "If-None-Match", "*").problem(412, "conflict")
	if !strings.Contains(p.Detail, "mail") {
		t.Errorf("%+v", p)
	}
	if got := read[api.Type](s.get("types/mail").is(200)); got.Description != "theirs" {
		t.Errorf("%+v", got)
	}
}
