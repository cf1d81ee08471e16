package access_test

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/access"
)

// tableNeed is the row of the tables of needs that a way has.
func (w *way) tableNeed() access.Need {
	switch {
	case w.verb != "":
		return access.NeedOfVerb(w.verb)
	case w.require && w.reading:
		return access.NeedOfRequire(access.ReadOperation, w.need)
	case w.require:
		return access.NeedOfRequire(access.WriteOperation, w.need)
	}
	return access.NeedOfRead(w.reads[0])
}

// privilege is what a way needs.
func (w *way) privilege() rota.Privilege {
	if w.need != "" {
		return w.need
	}
	return w.tableNeed().Privilege
}

// verdict is what each interface has to answer.
func (w *way) verdict(p *person) rota.Code {
	need, privilege := w.tableNeed(), w.privilege()
	switch {
	case w.any:
		return ""
	case p.scope != "" && !slices.Contains(need.Scopes, p.scope):
		return rota.Denied
	case w.public:
		return ""
	case need.Worker:
		return orDenied(p.scope == rota.ScopeWorker || p.may(rota.Admin, ""))
	case w.refers != "" && !p.reaches(w.refers):
		return rota.NotFound
	case w.filters && !p.may(w.seenBy, w.on):
		return rota.NotFound
	case privilege == "" && p.sees(w.on), privilege != "" && p.may(privilege, w.on), w.owner && p.owner:
		return ""
	case w.hides, w.on != "" && !p.sees(w.on), w.seenBy != "" && !p.may(w.seenBy, w.on):
		return rota.NotFound
	}
	return rota.Denied
}

func orDenied(may bool) rota.Code {
	if may {
		return ""
	}
	return rota.Denied
}

// TestInterfacesAgree does everything as everybody, over HTTP, on the SQL port and as rota sql does. All interfaces answer alike, and as
// the tables of needs say.
func TestInterfacesAgree(t *testing.T) {
	d := openInterfaces(t, newPeople(), "")
	d.history()
	for i := range ways {
		d.walk(&ways[i], d.people)
	}
}

// walk does one thing as each person, through each interface that has it.
func (d *interfaces) walk(w *way, people []*person) {
	d.t.Helper()
	if w.prepare != nil {
		w.prepare(d)
	}
	d.values["{job}"], d.values["{name}"] = cmp.Or(w.on, w.target), cmp.Or(w.target, w.on)
	d.values["{template}"], d.values["{key}"] = d.values["{name}"], "API_KEY"
	for _, p := range people {
		want := w.verdict(p)
		for _, via := range []struct {
			name string
			has  bool
			use  func(*person, *way) outcome
		}{
			{"HTTP", w.route != "", d.byHTTP}, {"the SQL port", w.sql != "", d.byPsql}, {"rota sql", w.sql != "", d.bySQLRequest},
		} {
			if !via.has {
				continue
			}
			got := via.use(p, w)
			if got.odd || got.code != want {
				d.t.Errorf("%s as %s through %s: %s; want %q", w.name, p.name, via.name, got, want)
			}
			if got.code == rota.Denied && !got.counted && !w.explains(p, got.text) {
				d.t.Errorf("%s as %s through %s: the refusal does not name what is missing: %s", w.name, p.name, via.name, got.text)
			}
			if got.code == rota.NotFound && w.shows == "" && slices.Contains([]string{"nobody", "execute-job"}, p.name) {
				d.likeAbsent(w, p, via.name, got.text, via.use)
			}
			if got.code == "" && w.prepare != nil {
				w.prepare(d)
			}
		}
	}
}

// likeAbsent checks that what a person may not see is refused with the words for what does not exist.
func (d *interfaces) likeAbsent(w *way, p *person, via, got string, use func(*person, *way) outcome) {
	d.t.Helper()
	seen := d.values
	defer func() { d.values = seen }()
	absent := map[string]string{"{job}": "absent", "{name}": "absent", "{template}": "absent", "{token_id}": "k7m2p9qxw4ht"}
	for _, id := range []string{"{id}", "{dead}", "{group}"} {
		absent[id] = rota.NewID().String()
	}
	d.values = maps.Clone(seen)
	maps.Copy(d.values, absent)
	want := use(p, w).text
	for name, value := range absent {
		if was := seen[name]; was != "" {
			got, want = strings.ReplaceAll(got, was, "IT"), strings.ReplaceAll(want, value, "IT")
		}
	}
	if got != want {
		d.t.Errorf("%s as %s through %s: the answer shows that it exists:\n%s\n%s", w.name, p.name, via, got, want)
	}
}

// explains reports whether a refusal names the missing privilege, or what the token lacks.
func (w *way) explains(p *person, text string) bool {
	if p.scope != "" && strings.Contains(text, "token") {
		return true
	}
	return strings.Contains(text, string(w.privilege())) || w.tableNeed().Worker && strings.Contains(text, "ADMIN") ||
		w.need == rota.Admin && strings.Contains(text, "has no ")
}

// TestMatrixIsComplete fails for a command, a read or a route that the matrix does not have.
func TestMatrixIsComplete(t *testing.T) {
	d := openInterfaces(t, nil, "")
	routes, verbs, reads := map[string]bool{}, map[rota.Verb]bool{}, map[string]bool{}
	for i := range ways {
		w := &ways[i]
		routes[w.route], verbs[w.verb] = true, true
		for _, read := range w.reads {
			reads[read] = true
		}
		if need := w.tableNeed(); w.verb != "" && w.need != "" && w.need != need.Privilege && w.why == "" {
			t.Errorf("%s needs %s, the table of needs says %s", w.name, w.need, need.Privilege)
		}
	}
	for _, verb := range access.VerbsWithNeed() {
		if need := access.NeedOfVerb(verb); !verbs[verb] && !need.Internal && !need.Self && noInterface[string(verb)] == "" {
			t.Errorf("the matrix has no row for the command %s", verb)
		}
	}
	for _, read := range access.ReadsWithNeed() {
		if need := access.NeedOfRead(read); !reads[read] && !need.Internal && !need.Self && noInterface[read] == "" {
			t.Errorf("the matrix has no row for the read %s", read)
		}
	}
	for _, route := range d.routes() {
		if !routes[route] && elsewhere[route] == "" {
			t.Errorf("the matrix has no row for %s", route)
		}
		delete(routes, route)
	}
	delete(routes, "")
	for route := range routes {
		t.Errorf("the matrix has a row for %s, which the server does not have", route)
	}
}

// routes lists the operations of the OpenAPI document.
func (d *interfaces) routes() (all []string) {
	d.t.Helper()
	response, err := http.Get("http://" + d.node.Addresses()["http"] + "/openapi.json")
	if err != nil {
		d.t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		d.t.Fatal(err)
	}
	var document struct {
		Paths map[string]map[string]any
	}
	if err := json.Unmarshal(text, &document); err != nil || len(document.Paths) < 50 {
		d.t.Fatal(len(document.Paths), err)
	}
	for path, methods := range document.Paths {
		for method := range methods {
			all = append(all, strings.ToUpper(method)+" "+strings.TrimPrefix(path, "/api/v1"))
		}
	}
	return all
}

// history creates what reads show: a dead letter, a group, a reservation.
func (d *interfaces) history() {
	d.t.Helper()
	job := d.do(&rota.Trigger{Meta: rota.NewMeta(rota.AdminUser), Schedule: "broken"}).(*rota.Triggered).Jobs[0]
	d.values["{dead}"] = job.ID.String()
	group := d.do(&rota.EnqueueGroup{Meta: rota.NewMeta(rota.AdminUser), Jobs: []rota.NewJob{{Type: "mail"}}}).(*rota.GroupEnqueued)
	d.values["{group}"] = group.Group.ID.String()
	d.answer(d.token, "POST", "/direct", `{"type": "noop"}`)
	reservations, err := d.store.Reservations(context.Background(), rota.ID{}, 1)
	if err != nil || len(reservations) != 1 {
		d.t.Fatal(reservations, err)
	}
	d.values["{reservation}"] = reservations[0].ID.String()
	d.values["{unknown}"] = rota.NewID().String()
	d.values["{lease}"] = strings.Repeat("0f", 16)
	d.values["{yesterday}"] = time.Now().Add(-24 * time.Hour).UTC().Format(time.RFC3339)
	d.values["{today}"] = time.Now().Add(-20 * time.Hour).UTC().Format(time.RFC3339)
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		last, err := d.store.LastAttempt(context.Background(), job.ID)
		if err != nil || time.Now().After(end) {
			d.t.Fatal("the job does not become a dead letter:", err)
		}
		if last.Sequel == rota.SequelDead {
			return
		}
	}
}

// trigger creates a job that stays queued.
func (d *interfaces) trigger() rota.ID {
	d.t.Helper()
	job := d.do(&rota.Trigger{Meta: rota.NewMeta(rota.AdminUser), Schedule: "nightly"}).(*rota.Triggered).Jobs[0]
	d.values["{id}"] = job.ID.String()
	return job.ID
}

func (d *interfaces) queued() { d.trigger() }

func (d *interfaces) delayed() {
	made := d.do(&rota.Enqueue{Meta: rota.NewMeta(rota.AdminUser), Jobs: []rota.NewJob{{Template: "nightly", Delay: time.Hour}}}).(*rota.Enqueued)
	d.values["{id}"] = made.Jobs[0].Job.ID.String()
}

func (d *interfaces) cancelled() {
	d.do(&rota.Cancel{Meta: rota.NewMeta(rota.AdminUser), JobID: d.trigger()})
}

func (d *interfaces) dead()  { d.values["{id}"] = d.values["{dead}"] }
func (d *interfaces) group() { d.values["{id}"] = d.values["{group}"] }

func (d *interfaces) archive(is bool) {
	if is {
		d.do(&rota.Archive{Meta: rota.NewMeta(rota.AdminUser), Name: "nightly"})
		return
	}
	d.do(&rota.Unarchive{Meta: rota.NewMeta(rota.AdminUser), Name: "nightly"})
}

func (d *interfaces) pause() {
	d.do(&rota.SwitchSchedule{Meta: rota.NewMeta(rota.AdminUser), Name: "nightly", State: rota.SchedulePaused})
}

// redefine creates the definition again if it was dropped, with its grants.
func (d *interfaces) redefine() {
	if _, err := d.store.Schedule(context.Background(), "nightly"); err == nil {
		return
	}
	d.define("nightly", definitionsOfMatrix["nightly"], "owner")
	d.grantOn("nightly")
}

func (d *interfaces) leaver()      { d.sql("CREATE USER IF NOT EXISTS leaver") }
func (d *interfaces) leavingRole() { d.sql("CREATE ROLE IF NOT EXISTS leaving") }

func (d *interfaces) tokenOfBystander() {
	made := d.answer(d.token, "POST", "/tokens", `{"user": "bystander", "scope": "read", "expires": "1h"}`)
	d.values["{token_id}"], _ = made["id"].(string)
}

// secret sets a secret of nightly.
func (d *interfaces) secret() {
	d.answer(d.token, "PUT", "/secrets/nightly/API_KEY", `{"value": "swordfish"}`)
}
