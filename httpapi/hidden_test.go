package httpapi_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/access"
	"github.com/rotajobs/rota/api"
)

// hiddenBodies are bodies of requests that do not refuse an empty object.
var hiddenBodies = map[string]string{
	"PUT /templates/{name}":           `{"type": "noop"}`,
	"PATCH /templates/{name}":         `{"description": "x"}`,
	"PUT /schedules/{name}":           `{"type": "noop", "every": "1h"}`,
	"PATCH /schedules/{name}":         `{"every": "2h"}`,
	"POST /schedules/{name}/backfill": `{"from": "2026-01-01T00:00:00Z", "to": "2026-01-02T00:00:00Z"}`,
	"PATCH /jobs/{id}":                `{"priority": 1}`,
	"POST /jobs/{id}/move":            `{"to": "top"}`,
}

// A user without rights gets the same answer for a thing that exists and for one that does not, on every route.
func TestHiddenThingsAnswerAsThoseThatDoNotExist(t *testing.T) {
	s := newServer(t, withEngine(t))
	headers, _ := s.user("ada", rota.ScopeWrite)
	s.user("bob", rota.ScopeWrite)
	theirs := s.hiddenThings()
	absent := map[string]string{
		"/jobs/": rota.NewID().String(), "/executions/": rota.NewID().String(), "/groups/": rota.NewID().String(), "/tokens/": strings.Repeat("x", 12),
		"/templates/": "absent", "/schedules/": "absent", "/users/": "absent", "/roles/": "absent",
	}
	doc := read[struct {
		Paths map[string]map[string]struct{} `json:"paths"`
	}](s.get("/openapi.json").is(200))
	compared := 0
	for path, methods := range doc.Paths {
		for method := range methods {
			for prefix, name := range theirs {
				place, rest, _ := strings.Cut(strings.TrimPrefix(path, "/api/v1"), "{")
				if place != prefix {
					continue
				}
				_, rest, _ = strings.Cut(rest, "}")
				op := strings.ToUpper(method) + " " + strings.TrimPrefix(path, "/api/v1")
				body := any(nil)
				if method != "get" && method != "delete" {
					body = `{}`
					if own, has := hiddenBodies[op]; has {
						body = own
					}
				}
				send := func(name string) string {
					a := s.send(strings.ToUpper(method), strings.TrimPrefix(prefix, "/")+name+rest, body, headers...)
					if a.status != http.StatusNotFound && a.status != http.StatusForbidden {
						t.Errorf("%s is answered with %d, so it compares nothing: %s", op, a.status, a.text)
					}
					return http.StatusText(a.status) + " " + strings.ReplaceAll(a.text, name, "NAME")
				}
				if hidden, missing := send(name), send(absent[prefix]); hidden != missing {
					t.Errorf("%s tells whether it exists:\n  hidden: %s\n  absent: %s", op, hidden, missing)
				}
				compared++
			}
		}
	}
	if compared < 30 {
		t.Errorf("only %d routes were compared", compared)
	}
}

// hiddenThings creates one thing of each kind as an administrator. It returns their names by the path of their routes.
func (s *server) hiddenThings() map[string]string {
	s.applyAll(
		&rota.PutTemplate{Meta: rota.NewMeta("admin"), Name: "theirs", Spec: rota.TemplateSpec{Type: "noop"}},
		&rota.PutSchedule{Meta: rota.NewMeta("admin"), Name: "theirs", State: rota.SchedulePaused, Spec: rota.ScheduleSpec{Template: "theirs", Every: time.Hour}, Next: time.Now().Add(time.Hour)},
		&rota.PutPrincipal{Meta: rota.NewMeta("admin"), Name: "them", Kind: rota.KindRole},
	)
	id, token := access.NewToken()
	s.applyAll(&rota.PutToken{Meta: rota.NewMeta("admin"), TokenID: id, User: "bob", Scope: rota.ScopeRead, Hash: access.HashToken(token)})
	job := s.enqueue(`{"template": "theirs", "delay": "1h"}`)
	group := read[api.Group](s.post("groups", `{"jobs": [{"type": "noop", "delay": "1h"}]}`).is(201))
	return map[string]string{
		"/jobs/": job, "/executions/": job, "/groups/": group.ID.String(), "/tokens/": id,
		"/templates/": "theirs", "/schedules/": "theirs", "/users/": "bob", "/roles/": "them",
	}
}
