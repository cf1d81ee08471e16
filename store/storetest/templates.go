package storetest

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

func testTemplates(t *testing.T, h Harness) {
	runStories(t, h, []namedStory{
		{"a declared template is kept as it was declared", templateDeclared},
		{"a mode or version that does not match is refused", templateModes},
		{"a job takes the values of its template", templateCreates},
		{"the request overrides the template, key by key", templateOverlaid},
		{"the unique time of a template applies to requests with a key", templateUniqueFor},
		{"a changed template does not change existing jobs", templateChanged},
		{"a template that cannot be used refuses the whole command", templateRefuses},
		{"templates are listed by name, page by page", templatesListed},
	})
}

var templateSpec = rota.TemplateSpec{
	Type: "mail", Description: "a letter", Params: json.RawMessage(`{"a":1,"deep":{"x":1}}`), Priority: new(4),
	Policy: rota.PolicyPatch{MaxRetries: new(1)}, UniqueFor: time.Minute, ConcurrencyKey: "smtp",
}

func templateDeclared(y *story) {
	c := y.templateCommand("letter", templateSpec)
	got := do[*rota.TemplatePut](y, c)
	want(y, "changed", got.Changed, true)
	for _, t := range []*rota.Template{got.Template, y.template("letter")} {
		want(y, "name", t.Name, "letter")
		want(y, "spec", string(rota.EncodeSpec(t.Spec)), string(rota.EncodeSpec(templateSpec)))
		want(y, "state", t.State, rota.TemplateActive)
		want(y, "version", t.Version, c.ID)
		want(y, "created by", t.CreatedBy, "ada")
		wantTime(y, "created at", t.CreatedAt, y.now)
		wantTime(y, "updated at", t.UpdatedAt, y.now)
	}
	y.wantAuditSince(nil, y.auditEntry(c, rota.AuditTemplateCreated, "template letter", ""))
	y.advance(time.Second)
	before := y.dump()
	want(y, "changed again", do[*rota.TemplatePut](y, y.templateCommand("letter", templateSpec)).Changed, false)
	y.wantUnchanged(before)
}

func templateModes(y *story) {
	put := func(mode rota.PutMode, version *rota.ID) *rota.PutTemplate {
		c := y.templateCommand("letter", templateSpec)
		c.Mode, c.Version = mode, version
		return c
	}
	y.wantField(rota.NotFound, "name", put(rota.PutReplace, nil))
	y.wantField(rota.NotFound, "name", put(rota.PutAny, new(y.ids.next())))
	row := do[*rota.TemplatePut](y, put(rota.PutCreate, nil)).Template
	y.wantField(rota.Conflict, "name", put(rota.PutCreate, nil))
	y.wantField(rota.Conflict, "version", put(rota.PutAny, new(y.ids.next())))
	want(y, "changed by an equal declaration", do[*rota.TemplatePut](y, put(rota.PutReplace, &row.Version)).Changed, false)
	y.wantField(rota.NotFound, "name", &rota.Archive{Meta: y.ids.meta(), Name: "other"})
	y.wantField(rota.NotFound, "name", &rota.Unarchive{Meta: y.ids.meta(), Name: "other"})
}

func templateCreates(y *story) {
	y.declareTemplate("letter", templateSpec)
	j := do[*rota.Enqueued](y, &rota.Enqueue{Meta: y.ids.meta(), Jobs: []rota.NewJob{{Template: "letter"}}}).Jobs[0].Job
	want(y, "type", j.Type, "mail")
	want(y, "name", j.Name, "letter")
	want(y, "template", j.Template, "letter")
	want(y, "params", string(j.Params), `{"a":1,"deep":{"x":1}}`)
	want(y, "priority", j.Priority, 4)
	want(y, "concurrency key", j.ConcurrencyKey, "smtp")
	want(y, "attempts", j.Policy.MaxAttempts, 2)
	want(y, "unique for", j.UniqueFor, 0)
	want(y, "difference between answer and row", difference(jobText(j), jobText(y.job(j.ID))), "")
}

func templateOverlaid(y *story) {
	y.declareTemplate("letter", templateSpec)
	j := y.enqueue(rota.NewJob{
		Type: "mail", Template: "letter", Name: "farewell", Params: json.RawMessage(`{"b":2,"deep":{"y":2}}`),
		Priority: new(0), ConcurrencyKey: new(""),
	})
	want(y, "name", j.Name, "farewell")
	want(y, "params", string(j.Params), `{"a":1,"b":2,"deep":{"y":2}}`)
	want(y, "priority", j.Priority, 0)
	want(y, "concurrency key", j.ConcurrencyKey, "")
	own := y.enqueue(rota.NewJob{Template: "letter", ConcurrencyKey: new("own")})
	want(y, "concurrency key", own.ConcurrencyKey, "own")
}

func templateUniqueFor(y *story) {
	y.declareTemplate("letter", templateSpec)
	want(y, "of a request without one", y.enqueue(rota.NewJob{Template: "letter", UniqueKey: "k"}).UniqueFor, time.Minute)
	want(y, "of a request with its own", y.enqueue(rota.NewJob{Template: "letter", UniqueKey: "l", UniqueFor: time.Hour}).UniqueFor, time.Hour)
	want(y, "held", y.submit(rota.NewJob{Template: "letter", UniqueKey: "k"}).Duplicate, true)
}

func templateChanged(y *story) {
	old := y.declareTemplate("letter", templateSpec)
	j := y.enqueue(rota.NewJob{Template: "letter"})
	y.advance(time.Second)
	before := jobText(y.job(j.ID))
	written := y.writtenAudit()
	c := y.templateCommand("letter", rota.TemplateSpec{Type: "other"})
	row := do[*rota.TemplatePut](y, c).Template
	want(y, "difference of its job", difference(before, jobText(y.job(j.ID))), "")
	want(y, "version", row.Version, c.ID)
	wantTime(y, "created at", row.CreatedAt, old.CreatedAt)
	wantTime(y, "updated at", row.UpdatedAt, y.now)
	y.wantAuditSince(written, y.auditEntry(c, rota.AuditTemplateModified, "template letter", ""))
	created := do[*rota.Enqueued](y, &rota.Enqueue{Meta: y.ids.meta(), Jobs: []rota.NewJob{{Template: "letter"}}}).Jobs[0].Job
	want(y, "type of a new one", created.Type, "other")
}

func templateRefuses(y *story) {
	y.declareTemplate("letter", rota.TemplateSpec{Params: oversized(rota.ParamsMax - 100)})
	enqueue := func(n rota.NewJob) *rota.Enqueue {
		return &rota.Enqueue{Meta: y.ids.meta(), Jobs: []rota.NewJob{{Type: "mail", UniqueKey: "k"}, n}}
	}
	y.wantField(rota.NotFound, "jobs[1].template", enqueue(rota.NewJob{Template: "missing"}))
	y.wantField(rota.Invalid, "jobs[1].type", enqueue(rota.NewJob{Template: "letter", Type: "other"}))
	y.wantField(rota.Invalid, "jobs[1].params", enqueue(rota.NewJob{Template: "letter", Params: json.RawMessage(`{"b":"` + string(repeatedText(9)) + `"}`)}))
	y.archive("letter")
	y.wantField(rota.Conflict, "jobs[1].template", enqueue(rota.NewJob{Template: "letter"}))
	y.wantKeyFree()
}

// repeatedText returns twenty letters, times times.
func repeatedText(times int) (text []byte) {
	for range times {
		text = append(text, "twenty letters of it"...)
	}
	return text
}

func templatesListed(y *story) {
	for _, name := range []string{"c", "a", "b"} {
		y.declareTemplate(name, rota.TemplateSpec{})
	}
	y.archive("a")
	list := func(q rota.NameQuery) string {
		all, err := y.s.Templates(y.ctx, q)
		return joinNames(must(y, "templates", all, err), func(t *rota.Template) string { return t.Name })
	}
	want(y, "all, the archived too", list(rota.NameQuery{}), "a b c")
	want(y, "the first page", list(rota.NameQuery{Limit: 2}), "a b")
	want(y, "the second page", list(rota.NameQuery{Limit: 2, After: "b"}), "c")
	y.wantNotFound("template", errOf(y.s.Template(y.ctx, "d")))
}
