package access_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/access"
	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/node"
)

// person is somebody who uses the interfaces of a node: a user with at most one privilege, or a token of a user.
type person struct {
	name  string
	owner bool           // owns the definitions of the matrix
	admin bool           // has ADMIN
	all   rota.Privilege // on all jobs
	job   rota.Privilege // on each definition of the matrix
	role  bool           // has the privilege through nested roles

	user     string          // of a token; empty: the person is a user and logs in with its password
	scope    rota.TokenScope // of the token
	tokenJob string          // the only job of the token

	bearer string // sent over HTTP
	conn   *pgconn.PgConn
}

// newPeople returns one person for each privilege, on one job and on all, and one for each other way to have rights.
func newPeople() []*person {
	people := []*person{{name: "nobody"}, {name: "owner", owner: true}}
	for _, p := range rota.Privileges {
		word := strings.ToLower(strings.ReplaceAll(string(p), " ", "-"))
		if p.OnJob() {
			people = append(people, &person{name: word, job: p})
		}
		if p != rota.Admin {
			people = append(people, &person{name: word + "-all", all: p})
		}
	}
	return append(people,
		&person{name: "member", job: rota.AlterJob, role: true},
		&person{name: "root", admin: true},
		&person{name: rota.AdminUser, admin: true},
		&person{name: "token-read-of-root", admin: true, user: "root", scope: rota.ScopeRead},
		&person{name: "token-write-of-owner", owner: true, user: "owner", scope: rota.ScopeWrite},
		&person{name: "token-worker-of-root", admin: true, user: "root", scope: rota.ScopeWorker},
		&person{name: "token-of-root-for-nightly", admin: true, user: "root", scope: rota.ScopeWrite, tokenJob: "nightly"},
		&person{name: "token-of-root-for-other", admin: true, user: "root", scope: rota.ScopeWrite, tokenJob: "other"},
	)
}

// reaches reports whether the token of a person may use a definition; an empty name stands for all.
func (p *person) reaches(on string) bool { return p.tokenJob == "" || p.tokenJob == on }

// may reports whether a person has a privilege on a definition of the matrix, or on all if the name is empty.
func (p *person) may(need rota.Privilege, on string) bool {
	owns := p.owner && on != "" && need.OnJob() && need != rota.ExecuteExternalJob
	return p.reaches(on) && (p.admin || owns || p.all == need || on != "" && p.job == need)
}

// sees reports whether a person sees a definition of the matrix.
func (p *person) sees(on string) bool {
	return p.reaches(on) && (p.admin || p.owner || p.job != "" || p.all != "" && p.all.OnJob())
}

const personPassword = "correct horse battery"

// interfaces is a node with users, whose store the set-up uses directly.
type interfaces struct {
	t      *testing.T
	node   *node.Node
	store  rota.Store
	token  string // of the admin
	admin  *pgconn.PgConn
	people []*person
	values map[string]string // what placeholders in paths, bodies and statements stand for
	serial int
}

// openInterfaces starts a node, and logs everybody in.
func openInterfaces(t *testing.T, people []*person, store string) *interfaces {
	t.Helper()
	data := filepath.Join(t.TempDir(), "data")
	n, err := node.Open(t.Context(), node.Config{
		Data: data, Store: store, HTTP: "127.0.0.1:0", SQL: "127.0.0.1:0", Name: "node-1", Workers: 2, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- n.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		n.Cut()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	<-n.Ready()
	token, err := os.ReadFile(filepath.Join(data, "admin.token"))
	if err != nil {
		t.Fatal(err)
	}
	d := &interfaces{t: t, node: n, store: n.Client().Store(), token: strings.TrimSpace(string(token)), people: people, values: map[string]string{}}
	d.admin = d.connect(rota.AdminUser, d.token)
	d.setUp()
	for _, p := range people {
		d.logIn(p)
	}
	return d
}

// setUp creates the users, the definitions of the matrix and the grants.
func (d *interfaces) setUp() {
	d.t.Helper()
	d.sql("CREATE USER bystander; CREATE ROLE crew; CREATE ROLE outer_role; CREATE ROLE inner_role; GRANT inner_role TO outer_role")
	d.do(&rota.PutType{Meta: rota.NewMeta(rota.AdminUser), Name: "mail"}) // no worker of the node runs it
	d.define("shared", "noop", rota.AdminUser)
	d.define("other", "noop", rota.AdminUser)
	d.sql("GRANT EXECUTE JOB ON JOB shared TO crew")
	for _, p := range d.people {
		if p.user != "" || p.name == rota.AdminUser {
			continue
		}
		d.sql(fmt.Sprintf("CREATE USER %q PASSWORD '%s'; GRANT EXECUTE JOB ON JOB shared TO %q", p.name, personPassword, p.name))
		switch {
		case p.all != "":
			d.sql(fmt.Sprintf("GRANT %s TO %q", p.all, p.name))
		case p.admin:
			d.sql(fmt.Sprintf("GRANT ADMIN TO %q", p.name))
		case p.role:
			d.sql(fmt.Sprintf("GRANT outer_role TO %q", p.name))
		}
	}
	for name := range definitionsOfMatrix {
		d.define(name, definitionsOfMatrix[name], "owner")
		d.grantOn(name)
	}
}

// definitionsOfMatrix are the definitions whose owner is owner, by their type. Jobs of type mail stay queued.
var definitionsOfMatrix = map[string]string{"nightly": "mail", "quick": "noop", "broken": "fail"}

// define creates a template and a schedule that does not fire.
func (d *interfaces) define(name, typ, owner string) {
	d.t.Helper()
	if t, err := d.store.Template(context.Background(), name); err == nil && t.State == rota.TemplateArchived {
		d.do(&rota.Unarchive{Meta: rota.NewMeta(owner), Name: name})
	}
	d.do(&rota.PutTemplate{Meta: rota.NewMeta(owner), Name: name, Spec: rota.TemplateSpec{Type: typ, Params: []byte(`{"message":"secret-of-` + name + `","permanent":true}`)}})
	d.do(&rota.PutSchedule{
		Meta: rota.NewMeta(owner), Name: name, State: rota.SchedulePaused, Spec: rota.ScheduleSpec{Template: name, Cron: "0 * * * *"},
		Next: time.Now().AddDate(1, 0, 0),
	})
}

// grantOn grants the privileges on one definition.
func (d *interfaces) grantOn(name string) {
	d.t.Helper()
	var grants []string
	for _, p := range d.people {
		grantee := p.name
		if p.role {
			grantee = "inner_role"
		}
		if p.job != "" {
			grants = append(grants, fmt.Sprintf("GRANT %s ON JOB %s TO %q", p.job, name, grantee))
		}
	}
	d.sql(strings.Join(grants, "; "))
}

// do applies a command to the store itself, which is what an engine or another node does.
func (d *interfaces) do(c rota.Command) rota.Reply {
	d.t.Helper()
	reply, err := rota.Do[rota.Reply](context.Background(), d.store, c)
	if err != nil {
		d.t.Fatalf("%s: %v", c.Verb(), err)
	}
	return reply
}

// sql runs statements as admin.
func (d *interfaces) sql(text string) {
	d.t.Helper()
	if _, err := d.admin.Exec(d.t.Context(), text).ReadAll(); err != nil {
		d.t.Fatalf("%s: %v", text, err)
	}
}

func (d *interfaces) connect(user, password string) *pgconn.PgConn {
	d.t.Helper()
	address := url.URL{Scheme: "postgres", User: url.UserPassword(user, password), Host: d.node.Addresses()["sql"], Path: "rota", RawQuery: "sslmode=disable"}
	conn, err := pgconn.Connect(d.t.Context(), address.String())
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

// logIn opens the interfaces for a person: a token for HTTP and a connection to the SQL port.
func (d *interfaces) logIn(p *person) {
	d.t.Helper()
	switch {
	case p.name == rota.AdminUser:
		p.bearer, p.conn = d.token, d.connect(rota.AdminUser, d.token)
	case p.user != "":
		body := map[string]any{"user": p.user, "scope": p.scope, "expires": "1d"}
		if p.tokenJob != "" {
			body["job"] = p.tokenJob
		}
		text, _ := json.Marshal(body)
		made := d.answer(d.token, "POST", "/tokens", string(text))
		p.bearer, _ = made["token"].(string)
		id, is := access.TokenID(p.bearer)
		if !is {
			d.t.Fatal(made)
		}
		p.conn = d.connect(rota.TokenPrefix+id, p.bearer)
	default:
		made := d.answer("", "POST", "/login", fmt.Sprintf(`{"user": %q, "password": %q}`, p.name, personPassword))
		p.bearer, _ = made["token"].(string)
		p.conn = d.connect(p.name, personPassword)
	}
}

// answer sends a request that must succeed, and returns the object of its answer.
func (d *interfaces) answer(bearer, method, path, body string) (object map[string]any) {
	d.t.Helper()
	status, text := d.request(bearer, method, path, body, false)
	if err := json.Unmarshal([]byte(text), &object); status/100 != 2 || err != nil {
		d.t.Fatalf("%s %s: %d %s", method, path, status, text)
	}
	return object
}

// request sends a request. Of a stream it reads nothing but the status.
func (d *interfaces) request(bearer, method, path, body string, stream bool) (status int, text string) {
	d.t.Helper()
	ctx, cancel := context.WithCancel(d.t.Context())
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, "http://"+d.node.Addresses()["http"]+"/api/v1"+path, bytes.NewBufferString(body))
	if err != nil {
		d.t.Fatal(err)
	}
	if bearer != "" {
		r.Header.Set("Authorization", "Bearer "+bearer)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		d.t.Fatal(err)
	}
	defer response.Body.Close()
	if stream && response.StatusCode == http.StatusOK {
		return response.StatusCode, ""
	}
	content, err := io.ReadAll(response.Body)
	if err != nil {
		d.t.Fatal(err)
	}
	return response.StatusCode, string(content)
}

// outcome is what an interface answers: the code of the error, empty if it was done or shown, and the text of the answer.
type outcome struct {
	code    rota.Code
	text    string
	odd     bool // neither done, nor Denied, nor NotFound
	counted bool // a request about many jobs counts the refusal, without its words
}

func (o outcome) String() string {
	switch {
	case o.odd:
		return "neither allowed nor refused: " + o.text
	case o.code == "":
		return "allowed"
	}
	return string(o.code) + ": " + strings.TrimSpace(o.text)
}

// byHTTP sends a request as a person. A list that does not show the thing is NotFound.
func (d *interfaces) byHTTP(p *person, w *way) outcome {
	d.t.Helper()
	method, path, _ := strings.Cut(w.route, " ")
	status, text := d.request(p.bearer, method, d.fill(path+w.query), d.fill(w.body), w.stream)
	if w.refers != "" && status == http.StatusUnprocessableEntity && strings.Contains(text, "there is no template ") {
		return outcome{code: rota.NotFound, text: text}
	}
	return d.outcomeOf(status, text, w.shows)
}

func (d *interfaces) outcomeOf(status int, text, shows string) outcome {
	switch {
	case status/100 == 2 && strings.Contains(text, `"refused":1,`): // of one job
		return outcome{code: rota.Denied, text: text, counted: true}
	case status/100 == 2 && shows != "" && !strings.Contains(text, d.fill(shows)):
		return outcome{code: rota.NotFound, text: "the list does not show it"}
	case status/100 == 2:
		return outcome{text: text}
	case status == http.StatusForbidden:
		return outcome{code: rota.Denied, text: text}
	case status == http.StatusNotFound:
		return outcome{code: rota.NotFound, text: text}
	}
	return outcome{text: fmt.Sprint(status, " ", text), odd: true}
}

// bySQLRequest sends a statement as rota sql does.
func (d *interfaces) bySQLRequest(p *person, w *way) outcome {
	d.t.Helper()
	body, _ := json.Marshal(map[string]string{"statement": d.fill(w.sql)})
	status, text := d.request(p.bearer, "POST", "/sql", string(body), false)
	found := d.outcomeOf(status, text, "")
	if found.code == "" && !found.odd {
		var answer api.SQLAnswer
		if err := json.Unmarshal([]byte(text), &answer); err != nil {
			d.t.Fatal(err)
		}
		return d.outcomeOf(status, rowsText(answer.Rows, func(v api.SQLValue) string { return strings.Trim(string(v), `"`) }), w.sqlShows())
	}
	if state := map[rota.Code]string{rota.Denied: "42501", rota.NotFound: "42704"}[found.code]; status/100 != 2 && !strings.Contains(text, state) && !strings.Contains(text, "scope") {
		return outcome{text: "without the SQLSTATE " + state + ": " + text, odd: true}
	}
	return found
}

// byPsql sends a statement on the SQL port.
func (d *interfaces) byPsql(p *person, w *way) outcome {
	d.t.Helper()
	results, err := p.conn.Exec(d.t.Context(), d.fill(w.sql)).ReadAll()
	var refusal *pgconn.PgError
	if errors.As(err, &refusal) {
		text := refusal.Message + " " + refusal.Hint
		switch refusal.Code {
		case "42501":
			return outcome{code: rota.Denied, text: text}
		case "42704":
			return outcome{code: rota.NotFound, text: text}
		}
		return outcome{text: refusal.Code + " " + text, odd: true}
	}
	if err != nil {
		d.t.Fatal(err)
	}
	var rows strings.Builder
	for _, r := range results {
		rows.WriteString(rowsText(r.Rows, func(v []byte) string { return string(v) }))
	}
	return d.outcomeOf(http.StatusOK, rows.String(), w.sqlShows())
}

// rowsText writes rows as text, with a bar behind each value.
func rowsText[T any](rows [][]T, text func(T) string) string {
	var b strings.Builder
	for _, row := range rows {
		for _, value := range row {
			b.WriteString(text(value) + "|")
		}
		b.WriteString("\n")
	}
	return b.String()
}

// fill replaces the placeholders of a text.
func (d *interfaces) fill(text string) string {
	for name, value := range d.values {
		text = strings.ReplaceAll(text, name, value)
	}
	if strings.Contains(text, "{new}") {
		d.serial++
		text = strings.ReplaceAll(text, "{new}", fmt.Sprintf("new%d", d.serial))
	}
	return text
}
